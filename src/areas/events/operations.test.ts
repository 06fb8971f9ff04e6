import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { Gitlab } from '@gitbeaker/rest'
import type { Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

const world = sharedWorld()

let project: Project
let owner: Someone
let guest: Someone
let outsider: Someone
before(async () => {
  const { make } = world()
  project = await make.project({ visibility: 'private', repository: 'empty' })
  ;[owner, guest] = [await make.memberOf('owner', { project }), await make.memberOf('guest', { project })]
  outsider = await make.user()
})

interface Shown {
  readonly id: number
  readonly action_name: string
  readonly target_type: string | null
  readonly target_iid: number | null
  readonly target_title: string | null
  readonly note?: { readonly body: string }
  readonly push_data?: Readonly<Record<string, unknown>>
}
const send = async (method: 'POST' | 'PUT' | 'DELETE', path: string, body?: object): Promise<Answered> => {
  const answer = await world().call(method, `/projects/${project.id}${path}`, {
    as: owner,
    ...(body && { body }),
  })
  assert.ok(answer.status < 300, `${path}: ${answer.text}`)
  return answer
}
const list = async (path: string, as?: Someone): Promise<Shown[]> =>
  (await world().get(path, as)).body as Shown[]
const ofProject = (query = '', as: Someone = owner): Promise<Shown[]> =>
  list(`/projects/${project.id}/events?per_page=100${query}`, as)
const words = (events: readonly Shown[]): string[] =>
  events.map(({ action_name, target_type }) => [action_name, target_type ?? ''].join(' ').trim())

test('events tell of pushes, issues, notes, milestones and members in the published words', async () => {
  const commit = { branch: 'main', commit_message: 'first commit\n\nbody', actions: [] as object[] }
  commit.actions = [{ action: 'create', file_path: 'a', content: 'a' }]
  await send('POST', '/repository/commits', commit)
  await send('POST', '/repository/branches?branch=topic&ref=main')
  await send('DELETE', '/repository/branches/topic')
  const { iid } = (await send('POST', '/issues', { title: 'slow', labels: 'bug' })).body as { iid: number }
  await send('PUT', `/issues/${iid}`, { add_labels: 'later' })
  await send('POST', `/issues/${iid}/notes`, { body: 'me too' })
  await send('PUT', `/issues/${iid}`, { state_event: 'close' })
  await send('PUT', `/issues/${iid}`, { state_event: 'reopen' })
  await send('POST', '/milestones', { title: '1.0' })

  const events = await ofProject('&sort=asc')
  assert.deepEqual(words(events), [
    'joined',
    'joined',
    'pushed new',
    'pushed new',
    'deleted',
    'opened Issue',
    'commented on Note',
    'closed Issue',
    'reopened Issue',
    'opened Milestone',
  ])
  const [, , first, , gone, opened, said] = events
  assert.deepEqual(first?.push_data, {
    commit_count: 1,
    action: 'created',
    ref_type: 'branch',
    commit_from: null,
    commit_to: first?.push_data?.['commit_to'],
    ref: 'main',
    commit_title: 'first commit',
    ref_count: null,
  })
  assert.equal(gone?.push_data?.['commit_to'], null)
  assert.deepEqual([opened?.target_iid, opened?.target_title], [iid, 'slow'])
  assert.deepEqual([said?.note?.body, said?.target_title], ['me too', 'slow'])
})

test('filters narrow by action, target type and day, and unknown words are refused', async () => {
  assert.deepEqual(words(await ofProject('&action=closed')), ['closed Issue'])
  assert.deepEqual(words(await ofProject('&target_type=note')), ['commented on Note'])
  assert.deepEqual(words(await ofProject('&action=pushed&sort=asc')), ['pushed new', 'pushed new', 'deleted'])
  const today = new Date().toISOString().slice(0, 10)
  assert.deepEqual(await ofProject(`&after=${today}`), [])
  assert.deepEqual(await ofProject(`&before=${today}`), [])
  await world().make.sql(
    `update events set created_at = created_at - interval '2 days' where project_id = ${project.id} and activity = 'closed'`,
  )
  assert.deepEqual(words(await ofProject(`&before=${today}`)), ['closed Issue'])
  const refused = await world().get(`/projects/${project.id}/events?action=sung`, owner)
  assert.deepEqual([refused.status, refused.body], [400, { error: 'action does not have a valid value' }])
})

test('each caller sees events of what they see at that moment', async () => {
  const { make } = world()
  const secret = { title: 'secret', confidential: true }
  const { iid } = (await send('POST', '/issues', secret)).body as { iid: number }
  await send('POST', `/issues/${iid}/notes`, { body: 'hush' })
  const open = (await send('POST', '/issues', { title: 'open' })).body as { iid: number }
  await send('POST', `/issues/${open.iid}/notes`, { body: 'inside', internal: true })
  const titles = async (as: Someone): Promise<(string | null)[]> =>
    (await ofProject('&target_type=issue', as)).map(({ target_title }) => target_title)
  assert.ok((await titles(owner)).includes('secret'))
  assert.ok(!(await titles(guest)).includes('secret'))
  const said = async (as: Someone): Promise<(string | undefined)[]> =>
    (await ofProject('&action=commented', as)).map(({ note }) => note?.body)
  assert.deepEqual(await said(owner), ['inside', 'hush', 'me too'])
  assert.deepEqual(await said(guest), ['me too'])
  assert.deepEqual(await ofProject('&action=pushed', guest), [], 'guests of private projects read no code')
  assert.equal((await world().get(`/projects/${project.id}/events`, outsider)).status, 404)
  assert.deepEqual(await list(`/users/${owner.username}/events`, outsider), [])
  assert.ok((await list(`/users/${owner.id}/events`, guest)).length > 0)

  await make.sql(`delete from members where user_id = ${guest.id}`)
  assert.deepEqual(await list(`/users/${owner.id}/events`, guest), [], 'a removed member sees none')
  assert.deepEqual(await list('/events?scope=all', guest), [])
  await make.member(guest, 'guest', { project })
})

test('one’s own events are a list of their own, and `scope=all` adds those of one’s projects', async () => {
  assert.ok((await list('/events', owner)).length > 5)
  assert.deepEqual(words(await list('/events', guest)), ['joined', 'joined'])
  assert.ok(words(await list('/events?scope=all', guest)).includes('opened Issue'))
  const token = await world().make.token(owner, { scopes: ['read_user'] })
  const as = { ...owner, token }
  assert.equal((await world().get('/events', as)).status, 200)
  assert.equal((await world().get(`/projects/${project.id}/events`, as)).status, 403)
})

test('a private profile shows no events', async () => {
  await world().make.sql(`update users set private_profile = true where id = ${owner.id}`)
  assert.deepEqual(await list(`/users/${owner.id}/events`, guest), [])
  assert.ok((await list(`/users/${owner.id}/events`, owner)).length > 0)
})

test('an event goes with the note or issue that it is about', async () => {
  const { iid } = (await send('POST', '/issues', { title: 'short-lived' })).body as { iid: number }
  await send('DELETE', `/issues/${iid}`)
  assert.ok(!(await ofProject()).some(({ target_title }) => target_title === 'short-lived'))
})

test('an unmodified client reads events', async () => {
  const host = await world().app.listen({ port: 0, host: '127.0.0.1' })
  const client = new Gitlab({ host, token: owner.token })
  const events = await client.Events.all({ projectId: project.id, action: 'commented' })
  assert.deepEqual(events.map(({ action_name, author }) => [action_name, author.username]).slice(0, 1), [
    ['commented on', owner.username],
  ])
})
