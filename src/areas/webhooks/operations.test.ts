import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Gitlab } from '@gitbeaker/rest'
import type { Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import { allowLocal, openReceiver, type Receiver } from '../../../test/support/webhook_receiver.ts'
import type { Answered } from '../../../test/support/world.ts'

const world = sharedWorld()

let receiver: Receiver
let project: Project
let maintainer: Someone
before(async () => {
  receiver = await openReceiver()
  project = await world().make.project()
  maintainer = await world().make.memberOf('maintainer', { project })
})
after(() => receiver.close())

const url = 'https://receiver.example/hook'
const send = (method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Answered> =>
  world().call(method, `/projects/${project.id}/hooks${path}`, { as: maintainer, ...(body && { body }) })
type Shown = Readonly<Record<string, unknown>> & { readonly id: number }
const made = async (body: object = {}): Promise<Shown> => {
  const answer = await send('POST', '', { url, ...body })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Shown
}

test('a webhook has the published defaults, and never shows its secrets', async () => {
  const hook = await made({
    token: 'hush',
    wiki_page_events: true,
    custom_headers: [{ key: 'X-A', value: 'v' }],
  })
  const { id: _id, created_at: _at, ...rest } = hook
  const off = [
    'tag_push',
    'issues',
    'confidential_issues',
    'merge_requests',
    'note',
    'confidential_note',
    'job',
    'pipeline',
    'deployment',
    'milestone',
    'emoji',
    'wiki_page',
    'feature_flag',
    'releases',
    'resource_access_token',
    'vulnerability',
    'repository_update',
  ]
  assert.deepEqual(rest, {
    url,
    name: null,
    description: null,
    push_events: true,
    ...Object.fromEntries(off.map((name) => [`${name}_events`, false])),
    enable_ssl_verification: true,
    alert_status: 'executable',
    disabled_until: null,
    url_variables: [],
    custom_headers: [{ key: 'X-A' }],
    push_events_branch_filter: null,
    branch_filter_strategy: 'wildcard',
    custom_webhook_template: null,
    token_present: true,
    signing_token_present: false,
    project_id: project.id,
  })
  assert.deepEqual((await send('GET', `/${hook.id}`)).body, hook)
  const row = await rowOf<{ text: string }>(
    world(),
    'select h::text as text from web_hooks h where id = $1',
    [hook.id],
  )
  assert.ok(!row.text.includes('hush') && !row.text.includes(Buffer.from('hush').toString('hex')))
})

test('a change keeps what it does not name; another address drops the secrets of the old one', async () => {
  const { id } = await made({ token: 'a', issues_events: true, url_variables: [{ key: 'x', value: '1' }] })
  const changed = (await send('PUT', `/${id}`, { push_events: false, name: 'named' })).body as Shown
  assert.deepEqual(
    [changed['push_events'], changed['issues_events'], changed['name'], changed['token_present']],
    [false, true, 'named', true],
  )
  const moved = (await send('PUT', `/${id}`, { url: `${url}/other` })).body as Shown
  assert.deepEqual(
    [moved['token_present'], moved['url_variables'], moved['issues_events']],
    [false, [], true],
  )
  const all = await send('PUT', `/${id}`, {
    branch_filter_strategy: 'all_branches',
    push_events_branch_filter: 'x',
  })
  assert.equal((all.body as Shown)['push_events_branch_filter'], null)
  const empty = await send('PUT', `/${id}`, {})
  assert.deepEqual([empty.status, empty.body], [400, { error: 'No parameters provided' }])
})

test('faults are refused in the published words', async () => {
  await allowLocal(world(), false)
  const missing = await send('POST', '', { push_events: true })
  assert.deepEqual([missing.status, missing.body], [400, { error: 'url is missing' }])
  const cases: [object, object][] = [
    [{ url: 'ftp://a.example' }, { error: 'Invalid url given' }],
    [{ url: 'nothing' }, { error: 'Invalid url given' }],
    [{ url: receiver.url }, { error: 'Invalid url given' }],
    [{ push_events_branch_filter: '~bad/' }, { error: 'Invalid branch filter given' }],
    [
      { branch_filter_strategy: 'regex', push_events_branch_filter: '(' },
      { error: 'Invalid branch filter given' },
    ],
    [{ custom_headers: [{ key: 'a..b', value: 'x' }] }, { error: 'Custom headers validation failed' }],
    [{ token: 'a\nb' }, { message: { token: ['is invalid'] } }],
    [{ url: 'https://{host}/' }, { message: { url: ['is invalid'] } }],
    [{ signing_token: 'short' }, { message: { signing_token: ['is invalid'] } }],
  ]
  for (const [body, refusal] of cases) {
    const answer = await send('POST', '', { url, ...body })
    assert.deepEqual([answer.status, answer.body], [422, refusal], JSON.stringify(body))
  }
  await allowLocal(world())
})

test('variables of the address and headers are set and deleted one by one', async () => {
  const { id } = await made({ url: `${url}/{room}`, url_variables: [{ key: 'room', value: 'a' }] })
  assert.equal((await send('PUT', `/${id}/custom_headers/X-One`, { value: '1' })).status, 204)
  assert.equal((await send('PUT', `/${id}/url_variables/a..b`, { value: '1' })).status, 422)
  assert.equal((await send('PUT', `/${id}/url_variables/more`, { value: '' })).status, 422)
  const shown = (await send('GET', `/${id}`)).body as Shown
  assert.deepEqual([shown['custom_headers'], shown['url_variables']], [[{ key: 'X-One' }], [{ key: 'room' }]])
  assert.equal((await send('DELETE', `/${id}/custom_headers/X-One`)).status, 204)
  assert.equal((await send('DELETE', `/${id}/custom_headers/X-One`)).status, 404)
})

test('a test sends real records, says where there are none, and is limited to five a minute', async () => {
  const { id } = await made({
    url: receiver.url,
    custom_webhook_template: '{"is":"{{object_attributes.title}}"}',
  })
  const none = await send('POST', `/${id}/test/merge_requests_events`)
  assert.deepEqual([none.status, none.body], [422, { message: 'Ensure the project has merge requests.' }])
  const unknown = await send('POST', `/${id}/test/releases_events`)
  assert.deepEqual([unknown.status, unknown.body], [400, { error: 'trigger does not have a valid value' }])
  await world().call('POST', `/projects/${project.id}/issues`, { as: maintainer, body: { title: 'real' } })
  for (let i = 0; i < 5; i += 1) assert.equal((await send('POST', `/${id}/test/issues_events`)).status, 201)
  assert.deepEqual(receiver.received.at(-1)?.body, { is: 'real' })
  assert.equal((await send('POST', `/${id}/test/issues_events`)).status, 429)
})

test('the webhooks of one project are not those of another, nor of the instance', async () => {
  const { id } = await made()
  const other = await world().make.project()
  const admin = await world().make.admin()
  for (const path of [`/projects/${other.id}/hooks/${id}`, `/hooks/${id}`])
    assert.deepEqual((await world().get(path, admin)).body, { message: '404 Not found' })
})

test('an unmodified client manages webhooks', async () => {
  const host = await world().app.listen({ port: 0, host: '127.0.0.1' })
  const { ProjectHooks } = new Gitlab({ host, token: maintainer.token })
  const hook = await ProjectHooks.add(project.id, url, { issuesEvents: true, token: 'x' })
  assert.deepEqual([hook.url, hook.issues_events], [url, true])
  const edited = await ProjectHooks.edit(project.id, hook.id, url, { noteEvents: true })
  assert.deepEqual([edited.note_events, edited.issues_events], [true, true])
  assert.ok((await ProjectHooks.all(project.id)).some((one) => one.id === hook.id))
  await ProjectHooks.remove(project.id, hook.id)
  await assert.rejects(ProjectHooks.show(project.id, hook.id), /404 Not found|Not found/)
})
