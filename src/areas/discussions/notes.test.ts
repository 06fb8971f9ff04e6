import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import {
  makeEpic,
  makeIssue,
  makeMergeRequest,
  makeSnippet,
  type Made,
} from '../../../test/support/noteables.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld, visible } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

let [author, reporter, guest, maintainer, owner, outsider]: Someone[] = []
let group: Namespace
let project: Project
const world = sharedWorld(async ({ make }) => {
  group = await make.group({ visibility: 'public' })
  project = await make.project({ group, visibility: 'public' })
  author = await make.user({ name: 'Ada' })
  outsider = await make.user()
  guest = await make.memberOf('guest', { group })
  reporter = await make.memberOf('reporter', { group })
  maintainer = await make.memberOf('maintainer', { group })
  owner = await make.memberOf('owner', { group })
})
interface Note {
  readonly id: number
  readonly body: string
  readonly created_at: string
  readonly updated_at: string
  readonly internal: boolean
}
const say = (about: Made, as: Someone | undefined, body: object): Promise<Answered> =>
  world().call('POST', `${about.path}/notes`, { as, body })
const said = async (about: Made, as: Someone | undefined, body: object): Promise<Note> => {
  const answer = await say(about, as, body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Note
}
const bodies = ({ body }: Answered): string[] => (body as Note[]).map((note) => note.body)
const noteCount = async (about: Made, table = 'issues'): Promise<number> =>
  (
    await rowOf<{ n: number }>(world(), `select user_notes_count as n from ${table} where id = $1`, [
      about.id,
    ])
  ).n

test('the right to see an issue, merge request, snippet or epic gives the right to comment', async () => {
  const rows: [Made, string, number | null, boolean][] = [
    [await makeIssue(world(), project), 'Issue', project.id, true],
    [await makeMergeRequest(world(), project), 'MergeRequest', project.id, true],
    [await makeSnippet(world(), project), 'Snippet', project.id, false],
    [await makeEpic(world(), group), 'Epic', null, false],
  ]
  for (const [about, noteable_type, project_id, hasIid] of rows) {
    const head = '0'.repeat(40)
    const note = await said(about, author, { body: 'A **comment** :+1:', merge_request_diff_head_sha: head })
    const { id, created_at, updated_at, ...rest } = note
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    assert.equal(updated_at, created_at)
    assert.deepEqual(rest, {
      type: null,
      body: 'A **comment** :+1:',
      attachment: null,
      author: {
        id: author?.id,
        username: author?.username,
        name: 'Ada',
        state: 'active',
        locked: false,
        avatar_url: null,
        web_url: `https://guild.example/${author?.username}`,
      },
      system: false,
      noteable_id: about.id,
      noteable_type,
      project_id,
      resolvable: false,
      confidential: false,
      internal: false,
      imported: false,
      imported_from: 'none',
      noteable_iid: hasIid ? about.iid : null,
      commands_changes: {},
    })
    assert.deepEqual((await world().get(`${about.path}/notes`, outsider)).body, [note])
    assert.deepEqual((await world().get(`${about.path}/notes/${id}`, outsider)).body, note)
    for (const path of ['/notes', `/notes/${id}`])
      assert.equal((await world().get(about.path + path)).status, 401, 'nobody reads without a token')
    const changed = await world().call('PUT', `${about.path}/notes/${id}`, {
      as: author,
      body: { body: 'x' },
    })
    assert.deepEqual([changed.status, (changed.body as Note).body], [200, 'x'])
    const gone = await world().call('DELETE', `${about.path}/notes/${id}`, { as: author })
    assert.deepEqual([gone.status, gone.text], [204, ''])
    const again = await world().call('DELETE', `${about.path}/notes/${id}`, { as: author })
    assert.deepEqual([again.status, again.body], [404, { message: '404 Not found' }])
  }
  assert.deepEqual(await rowsOf(world(), 'select from discussions'), [], 'nothing is left of them')
  const byIid = await world().get(`/groups/${group.id}/epics/${rows[3]?.[0].iid}/notes`, author)
  assert.deepEqual([byIid.status, byIid.body], [404, { message: '404 Not found' }], 'epics go by their ids')
})

test('notes are listed newest first, or as asked, at the same cost however many', async () => {
  const about = await makeIssue(world(), project)
  const cost = async (): Promise<number> =>
    (await world().statements(() => world().get(`${about.path}/notes`, author))).length
  const first = await said(about, author, { body: '0' })
  const one = await cost()
  for (let i = 1; i < 5; i += 1) await said(about, author, { body: String(i) })
  assert.equal(await cost(), one)
  await world().call('PUT', `${about.path}/notes/${first.id}`, { as: author, body: { body: '0!' } })
  await world().make.sql(`
    with d as (insert into discussions (key, noteable_id, individual_note)
               values (md5('x') || '00000000', ${about.id}, true) returning id)
    insert into notes (discussion_id, noteable_id, body, system_action) select id, ${about.id}, 'closed', 'closed' from d`)
  const list = async (query: string): Promise<string[]> =>
    bodies(await world().get(`${about.path}/notes?${query}`, author))
  assert.deepEqual(await list(''), ['closed', '4', '3', '2', '1', '0!'])
  assert.deepEqual(await list('sort=asc'), ['0!', '1', '2', '3', '4', 'closed'])
  assert.deepEqual(await list('order_by=updated_at&activity_filter=only_comments'), [
    '0!',
    '4',
    '3',
    '2',
    '1',
  ])
  assert.deepEqual(await list('activity_filter=only_activity'), ['closed'])
  const page = await world().get(`${about.path}/notes?per_page=2&page=2`, author)
  assert.deepEqual([bodies(page), page.headers['x-total']], [['3', '2'], '6'])
  for (const [query, error] of [
    ['sort=up', 'sort does not have a valid value'],
    ['order_by=id', 'order_by does not have a valid value'],
    ['activity_filter=x', 'activity_filter does not have a valid value'],
  ])
    assert.deepEqual((await world().get(`${about.path}/notes?${query}`, author)).body, { error })
})

test('a record counts its comments and is as young as the last of them', async () => {
  const about = await makeIssue(world(), project, { updated_at: '2020-01-01' })
  const note = await said(about, author, { body: ':+1:' })
  await said(about, reporter, { body: 'b', internal: true })
  assert.equal(await noteCount(about), 1, 'internal notes are not counted where all see the count')
  const { year } = await rowOf<{ year: number }>(
    world(),
    'select extract(year from updated_at)::int as year from issues where id = $1',
    [about.id],
  )
  assert.ok(year > 2020)
  await world().call('DELETE', `${about.path}/notes/${note.id}`, { as: author })
  assert.equal(await noteCount(about), 0)
})

test('nonsense is refused and changes nothing', async () => {
  const about = await makeIssue(world(), project)
  const note = await said(about, author, { body: 'a' })
  const before = await contents(world())
  const long = `400 Bad request - Note {:note=>["is too long (maximum is 1000000 characters)"]}`
  const rows: [object, unknown][] = [
    [{}, { error: 'body is missing' }],
    [{ body: ' \n\t' }, { message: `400 Bad request - Note {:note=>["can't be blank"]}` }],
    [{ body: 'x'.repeat(1_000_001) }, { message: long }],
    [{ body: 'x', created_at: 'yesterday' }, { error: 'created_at is invalid' }],
    [{ body: 'x', internal: 'perhaps' }, { error: 'internal is invalid' }],
  ]
  for (const [body, refusal] of rows) {
    const answer = await say(about, author, body)
    assert.deepEqual([answer.status, answer.body], [400, refusal])
  }
  for (const [body, error] of [
    [{}, 'body is missing'],
    [{ body: ' ' }, 'body is empty'],
  ] as const) {
    const answer = await world().call('PUT', `${about.path}/notes/${note.id}`, { as: author, body })
    assert.deepEqual([answer.status, answer.body], [400, { error }])
  }
  assert.equal((await say(about, undefined, { body: 'x' })).status, 401)
  assert.equal(await contents(world()), before)
})

test('a note is its author’s and the maintainers’; what the service wrote is nobody’s', async () => {
  const about = await makeIssue(world(), project)
  const note = await said(about, author, { body: 'mine' })
  const path = `${about.path}/notes/${note.id}`
  for (const as of [outsider, guest, reporter])
    for (const method of ['PUT', 'DELETE'] as const) {
      const answer = await world().call(method, path, { as, body: { body: 'x' } })
      assert.deepEqual([answer.status, answer.body], [403, { message: '403 Forbidden' }])
    }
  assert.equal((await world().call('PUT', path, { as: maintainer, body: { body: 'x' } })).status, 200)
  await world().make.sql(`update notes set system_action = 'closed' where id = ${note.id}`)
  for (const as of [author, maintainer, owner, await world().make.admin()])
    for (const method of ['PUT', 'DELETE'] as const)
      assert.equal((await world().call(method, path, { as, body: { body: 'x' } })).status, 403)
})

test('authors lose access to their notes with access to the issue', async () => {
  const about = await makeIssue(world(), project)
  const note = await said(about, outsider, { body: 'mine' })
  await world().make.sql(`update issues set confidential = true where id = ${about.id}`)
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    const body = method === 'PUT' ? { body: { body: 'x' } } : {}
    const answer = await world().call(method, `${about.path}/notes/${note.id}`, { as: outsider, ...body })
    assert.deepEqual([answer.status, answer.body], [404, { message: '404 Not found' }], method)
  }
})

test('internal notes are as if they were not, for those below Reporter', async () => {
  const about = await makeIssue(world(), project)
  await said(about, author, { body: 'open' })
  const hidden = await said(about, reporter, { body: 'hidden', confidential: true })
  assert.equal(hidden.internal, true)
  const planner = await world().make.memberOf('planner', { group })
  for (const as of [guest, planner])
    assert.equal((await say(about, as, { body: 'x', internal: true })).status, 403)
  const path = `${about.path}/notes/${hidden.id}`
  const edit = { as: reporter, body: { body: 'hidden', internal: false, confidential: false } }
  assert.equal(((await world().call('PUT', path, edit)).body as Note).internal, true, 'it stays so')
  assert.equal((await world().get(path, await world().make.admin())).status, 200)
  const seen = await world().get(`${about.path}/notes`, guest)
  assert.deepEqual([bodies(seen), seen.headers['x-total']], [['open'], '1'])
  assert.deepEqual(bodies(await world().get(`${about.path}/notes`, reporter)), ['hidden', 'open'])
  const absent = await world().get(`${about.path}/notes/987654321`, guest)
  assert.deepEqual(visible(await world().get(`${about.path}/notes/${hidden.id}`, guest)), visible(absent))
  await world().make.sql(`update notes set author_id = ${guest?.id} where id = ${hidden.id}`)
  const mine = await world().call('DELETE', `${about.path}/notes/${hidden.id}`, { as: guest })
  assert.equal(mine.status, 404, 'not even their author')
})

test('on a snippet nothing is said in confidence, and nothing that was to be is said openly', async () => {
  const about = await makeSnippet(world(), project)
  for (const flag of ['internal', 'confidential']) {
    const answer = await say(about, reporter, { body: 'x', [flag]: true })
    assert.deepEqual(
      [answer.status, answer.body],
      [400, { message: '400 Bad request - Note {:internal=>["can not be set for this resource"]}' }],
    )
  }
  assert.deepEqual((await world().get(`${about.path}/notes`, reporter)).body, [])
  assert.equal((await said(about, reporter, { body: 'x', internal: false })).internal, false)
})

test('system notes that name a project are hidden from callers who cannot see it', async () => {
  const about = await makeIssue(world(), project)
  const secret = await world().make.project({ visibility: 'private' })
  const member = await world().make.memberOf('guest', { project: secret })
  await world().make.sql(`
    with d as (insert into discussions (key, noteable_id, individual_note, mentions_project_id)
               values (md5('y') || '00000000', ${about.id}, true, ${secret.id}) returning id)
    insert into notes (discussion_id, noteable_id, body, system_action, mentions_project_id)
    select id, ${about.id}, 'mentioned in commit', 'cross_reference', ${secret.id} from d`)
  for (const path of ['notes', 'discussions']) {
    const [theirs, ours] = [
      await world().get(`${about.path}/${path}`, outsider),
      await world().get(`${about.path}/${path}`, member),
    ]
    assert.deepEqual([theirs.body, theirs.headers['x-total']], [[], '0'])
    assert.deepEqual([(ours.body as unknown[]).length, ours.headers['x-total']], [1, '1'])
  }
})

test('a locked discussion is for members, one in an archived project for nobody', async () => {
  const about = await makeIssue(world(), project, { discussion_locked: true })
  for (const below of ['notes', 'discussions']) {
    const path = `${about.path}/${below}`
    const answer = await world().call('POST', path, { as: outsider, body: { body: 'x' } })
    assert.deepEqual([answer.status, answer.body], [403, { message: '403 Forbidden' }])
  }
  const note = await said(about, guest, { body: 'x' })
  await world().make.sql(`update notes set author_id = ${outsider?.id} where id = ${note.id}`)
  assert.equal(
    (await world().call('DELETE', `${about.path}/notes/${note.id}`, { as: outsider })).status,
    403,
    'who may not talk may not change what was said',
  )
  const old = await world().make.project({ visibility: 'public', group })
  await world().make.sql(`update projects set archived = true where id = ${old.id}`)
  assert.equal((await say(await makeIssue(world(), old), owner, { body: 'x' })).status, 403)
})

test('administrators and owners say when a note was written; from others it is not heard', async () => {
  const about = await makeIssue(world(), project)
  const at = '2019-05-06T07:08:09.000Z'
  for (const as of [owner, await world().make.admin()]) {
    const note = await said(about, as, { body: 'old', created_at: at })
    assert.deepEqual([note.created_at, note.updated_at], [at, at])
  }
  assert.notEqual((await said(about, maintainer, { body: 'new', created_at: at })).created_at, at)
  const answer = await say(about, owner, { body: 'x', created_at: '1970-01-01T00:00:00Z' })
  assert.deepEqual([answer.status, answer.body], [400, { error: 'created_at is invalid' }])
})

test('a note that changed since is not deleted', async () => {
  const about = await makeIssue(world(), project)
  const note = await said(about, author, { body: 'x' })
  const path = `${about.path}/notes/${note.id}`
  const drop = (since: string): Promise<Answered> =>
    world().call('DELETE', path, { as: author, headers: { 'if-unmodified-since': since } })
  const late = await drop(new Date(Date.parse(note.updated_at) - 5_000).toUTCString())
  assert.deepEqual([late.status, late.body], [412, { message: '412 Precondition Failed' }])
  assert.equal((await world().get(path, author)).status, 200)
  assert.equal((await drop(new Date().toUTCString())).status, 204)
})
