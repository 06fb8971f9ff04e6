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
import { rowOf } from '../../../test/support/rows.ts'
import { writeSmallHistory, type SmallHistory } from '../../../test/support/small_history.ts'
import { contents, sharedWorld, visible } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

let history: SmallHistory
let [author, other, guest, developer, reporter]: Someone[] = []
let group: Namespace
let project: Project
const world = sharedWorld(async ({ make }) => {
  history = writeSmallHistory()
  group = await make.group({ visibility: 'public' })
  project = await make.project({ group, visibility: 'public', repository: history.directory })
  author = await make.user({ name: 'Ada' })
  other = await make.user()
  guest = await make.memberOf('guest', { group })
  reporter = await make.memberOf('reporter', { group })
  developer = await make.memberOf('developer', { group })
})
interface Note {
  readonly id: number
  readonly type: string | null
  readonly body: string
  readonly resolvable: boolean
  readonly resolved?: boolean
  readonly resolved_by?: { readonly id: number } | null
  readonly resolved_at?: string | null
}
interface Thread {
  readonly id: string
  readonly individual_note: boolean
  readonly notes: readonly Note[]
}
type Method = 'POST' | 'PUT' | 'DELETE'
const call = (method: Method, path: string, as: Someone | undefined, body?: object): Promise<Answered> =>
  world().call(method, path, { as, ...(body && { body }) })
async function made<T>(path: string, as: Someone | undefined, body: object): Promise<T> {
  const answer = await call('POST', path, as, body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body as T
}
const begin = (about: Made, body = 'first', as = author): Promise<Thread> =>
  made(`${about.path}/discussions`, as, { body })
const single = (about: Made, body = 'alone', as = author): Promise<Note> =>
  made(`${about.path}/notes`, as, { body })
const threads = async (about: Made, as = author): Promise<Thread[]> =>
  (await world().get(`${about.path}/discussions`, as)).body as Thread[]
const essence = ({ individual_note, notes }: Thread): unknown[] => [
  individual_note,
  ...notes.map(({ type, body }) => `${type}: ${body}`),
]
const commitPath = (rev = history.sha.change): string =>
  `/projects/${project.id}/repository/commits/${encodeURIComponent(rev)}`

test('a thread is begun, answered, listed, changed and taken down again on each of five bases', async () => {
  const bases: [Made, string, boolean][] = [
    [await makeIssue(world(), project), 'Issue', false],
    [await makeMergeRequest(world(), project), 'MergeRequest', true],
    [await makeSnippet(world(), project), 'Snippet', false],
    [await makeEpic(world(), group), 'Epic', false],
    [{ id: 0, iid: 0, path: commitPath('v1.0') }, 'Commit', false],
  ]
  for (const [about, type, resolvable] of bases) {
    const thread = await begin(about)
    assert.match(thread.id, /^[0-9a-f]{40}$/)
    assert.deepEqual(essence(thread), [false, 'DiscussionNote: first'])
    const [first] = thread.notes as unknown as [Record<string, unknown>]
    assert.deepEqual([first['noteable_type'], first['resolvable']], [type, resolvable])
    assert.equal('resolved' in first, resolvable)
    const path = `${about.path}/discussions/${thread.id}`
    const answer = await made<Note>(`${path}/notes`, other, { body: 'second', note_id: first['id'] })
    assert.deepEqual((await world().get(path, author)).body, (await threads(about))[0])
    assert.deepEqual(await threads(about), [{ ...thread, notes: [...thread.notes, answer] }])
    assert.deepEqual((await world().get(`${path}/notes`, author)).body, [...thread.notes, answer])
    const notePath = `${path}/notes/${answer.id}`
    assert.deepEqual((await world().get(notePath, author)).body, answer)
    const changed = await call('PUT', notePath, other, { body: 'changed' })
    assert.deepEqual([changed.status, (changed.body as Note).body], [200, 'changed'])
    assert.equal((await call('PUT', notePath, author, { body: 'x' })).status, 403)
    for (const status of [204, 404]) assert.equal((await call('DELETE', notePath, other)).status, status)
    assert.equal((await call('DELETE', `${path}/notes/${String(first['id'])}`, author)).status, 204)
    assert.deepEqual(await threads(about), [])
    for (const [below, thing] of Object.entries({ '': 'Discussion', '/notes': 'Notes' })) {
      const gone = await world().get(path + below, author)
      assert.deepEqual([gone.status, gone.body], [404, { message: `404 ${thing} Not Found` }])
    }
    assert.equal((await world().get(`${about.path}/discussions`)).status, 401)
  }
})

test('a page counts threads, in the order in which they began, at the same cost', async () => {
  const about = await makeIssue(world(), project)
  const cost = async (): Promise<number> => (await world().statements(() => threads(about))).length
  const thread = await begin(about, '0')
  const one = await cost()
  await single(about, '1')
  for (let i = 2; i < 5; i += 1) await begin(about, String(i))
  for (let i = 0; i < 3; i += 1)
    await made(`${about.path}/discussions/${thread.id}/notes`, other, { body: `0.${i}` })
  assert.equal(await cost(), one)
  const page = await world().get(`${about.path}/discussions?per_page=2`, author)
  assert.deepEqual((page.body as Thread[]).map(essence), [
    [false, 'DiscussionNote: 0', ...['0.0', '0.1', '0.2'].map((body) => `DiscussionNote: ${body}`)],
    [true, 'null: 1'],
  ])
  assert.deepEqual([page.headers['x-total'], page.headers['x-total-pages']], ['5', '3'])
  await call('DELETE', `${about.path}/discussions/${thread.id}/notes/${thread.notes[0]?.id}`, author)
  assert.deepEqual(
    (await threads(about)).map(({ notes }) => notes[0]?.body),
    ['1', '2', '3', '4', '0.0'].sort((a, b) => Number(a === '0.0') - Number(b === '0.0')),
  )
})

test('an answer makes a thread of a single comment, but not on snippets and commits', async () => {
  for (const about of [
    await makeIssue(world(), project),
    await makeMergeRequest(world(), project),
    await makeEpic(world(), group),
  ]) {
    await single(about)
    const [{ id } = { id: '' }] = await threads(about)
    await made(`${about.path}/discussions/${id}/notes`, other, { body: 'answer' })
    assert.deepEqual((await threads(about)).map(essence), [
      [false, 'DiscussionNote: alone', 'DiscussionNote: answer'],
    ])
    assert.deepEqual((await world().get(`${about.path}/notes`, author)).body, [], 'threads are no notes')
  }
  const snippet = await makeSnippet(world(), project)
  await single(snippet)
  await call('POST', `${commitPath('main')}/comments`, author, { note: 'alone' })
  for (const about of [snippet, { id: 0, iid: 0, path: commitPath('main') }]) {
    const [{ id } = { id: '' }] = await threads(about)
    const before = await contents(world())
    const answer = await call('POST', `${about.path}/discussions/${id}/notes`, other, { body: 'answer' })
    assert.deepEqual(
      [answer.status, answer.body],
      [400, { message: '400 Bad request - Discussion can not be replied to.' }],
    )
    assert.equal(await contents(world()), before)
  }
})

test('replies to a system note do not make it resolvable', async () => {
  const about = await makeMergeRequest(world(), project)
  await world().make.sql(`
    with d as (insert into discussions (key, noteable_id, individual_note)
               values (md5('s') || '00000000', ${about.id}, true) returning id)
    insert into notes (discussion_id, noteable_id, body, system_action) select id, ${about.id}, 'closed', 'closed' from d`)
  const [{ id } = { id: '' }] = await threads(about)
  await made(`${about.path}/discussions/${id}/notes`, author, { body: 'why?' })
  const [thread] = await threads(about)
  assert.equal(thread?.individual_note, false)
  assert.deepEqual(
    thread?.notes.map(({ resolvable }) => resolvable),
    [false, true],
  )
})

test('of fifty who answer a single comment at once all are heard, in one thread, in order', async () => {
  const about = await makeIssue(world(), project)
  await single(about)
  const [{ id } = { id: '' }] = await threads(about)
  const path = `${about.path}/discussions/${id}/notes`
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, i) => made<Note>(path, other, { body: String(i) })),
  )
  const all = await threads(about)
  assert.equal(all.length, 1)
  const [first, ...rest] = all[0]?.notes ?? []
  assert.deepEqual([first?.body, all[0]?.individual_note], ['alone', false])
  assert.deepEqual(
    rest.map(({ id: one }) => one),
    answers.map((note) => note.id).sort((a, b) => a - b),
  )
  const { n } = await rowOf<{ n: number }>(
    world(),
    'select user_notes_count as n from issues where id = $1',
    [about.id],
  )
  assert.equal(n, 51)
})

test('threads of merge requests are settled by developers and by the author, notes by their authors too', async () => {
  const about = await makeMergeRequest(world(), project, { author_id: author?.id })
  const thread = await begin(about, 'first', other)
  const path = `${about.path}/discussions/${thread.id}`
  const missing = await call('PUT', path, author, {})
  assert.deepEqual([missing.status, missing.body], [400, { error: 'resolved is missing' }])
  for (const as of [guest, reporter, other])
    assert.equal((await call('PUT', path, as, { resolved: true })).status, 403)
  const settled = await call('PUT', path, developer, { resolved: true })
  assert.equal(settled.status, 200)
  const [note] = (settled.body as Thread).notes
  assert.deepEqual([note?.resolvable, note?.resolved, note?.resolved_by?.id], [true, true, developer?.id])
  assert.match(note?.resolved_at ?? '', /^\d{4}-/)
  const again = await call('PUT', path, author, { resolved: true })
  assert.equal((again.body as Thread).notes[0]?.resolved_by?.id, developer?.id, 'the first one settled it')
  const open = await call('PUT', path, author, { resolved: false })
  const [opened] = (open.body as Thread).notes
  assert.deepEqual([opened?.resolved, opened?.resolved_by, opened?.resolved_at], [false, null, null])
  const notePath = `${path}/notes/${note?.id}`
  assert.equal((await call('PUT', notePath, guest, { resolved: true })).status, 403)
  const mine = await call('PUT', notePath, other, { resolved: true })
  assert.deepEqual([mine.status, (mine.body as Note).resolved], [200, true])
})

test('a reply keeps the resolved state of its thread', async () => {
  const about = await makeMergeRequest(world(), project)
  const thread = await begin(about)
  const path = `${about.path}/discussions/${thread.id}`
  const answer = (): Promise<Note> => made(`${path}/notes`, other, { body: 'answer' })
  assert.deepEqual([(await answer()).resolved, (await answer()).resolved], [false, false])
  await call('PUT', path, developer, { resolved: true })
  const late = await answer()
  assert.deepEqual([late.resolved, late.resolved_by?.id], [true, other?.id])
  assert.match(late.resolved_at ?? '', /^\d{4}-/)
  await call('PUT', `${path}/notes/${late.id}`, developer, { resolved: false })
  assert.equal((await answer()).resolved, false, 'one of its notes is open')
  const alone = await single(about)
  const [, { id } = { id: '' }] = await threads(about)
  assert.equal(
    (await made<Note>(`${about.path}/discussions/${id}/notes`, other, { body: 'a' })).resolved,
    false,
  )
  assert.equal(alone.resolvable, false)
})

test('threads that cannot be resolved are refused', async () => {
  const issue = await makeIssue(world(), project)
  const thread = await begin(issue)
  const path = `${issue.path}/discussions/${thread.id}/notes/${thread.notes[0]?.id}`
  const answer = await call('PUT', path, author, { resolved: true })
  assert.deepEqual(
    [answer.status, answer.body],
    [400, { message: '400 Bad request - Note is not resolvable' }],
  )
  for (const [body, error] of [
    [{}, 'body, resolved are missing, exactly one parameter must be provided'],
    [{ body: 'x', resolved: true }, 'body, resolved are mutually exclusive'],
    [{ body: '' }, 'body is empty'],
  ] as const)
    assert.deepEqual((await call('PUT', path, author, body)).body, { error })
  const mr = await makeMergeRequest(world(), project)
  await single(mr)
  const [{ id } = { id: '' }] = await threads(mr)
  assert.equal((await call('PUT', `${mr.path}/discussions/${id}`, developer, { resolved: true })).status, 403)
})

test('an internal thread is as if it were not, for those below Reporter', async () => {
  const about = await makeIssue(world(), project)
  await made(`${about.path}/notes`, reporter, { body: 'hidden', internal: true })
  const [{ id } = { id: '' }] = await threads(about, reporter)
  const path = `${about.path}/discussions/${id}`
  const answer = await made<{ internal: boolean }>(`${path}/notes`, reporter, { body: 'also' })
  assert.equal(answer.internal, true, 'answers are as internal as what they answer')
  assert.deepEqual(await threads(about, guest), [])
  const absent = `${about.path}/discussions/${'0'.repeat(40)}`
  for (const below of ['', '/notes'])
    assert.deepEqual(
      visible(await world().get(path + below, guest)),
      visible(await world().get(absent + below, guest)),
    )
  assert.deepEqual(
    visible(await call('POST', `${path}/notes`, guest, { body: 'x' })),
    visible(await call('POST', `${absent}/notes`, guest, { body: 'x' })),
  )
})

test('a note is reached only through its thread and its record', async () => {
  const [one, two] = [await makeIssue(world(), project), await makeIssue(world(), project)]
  const [mine, theirs] = [await begin(one), await begin(two)]
  const note = mine.notes[0]?.id
  for (const path of [
    `${two.path}/discussions/${mine.id}/notes/${note}`,
    `${two.path}/discussions/${theirs.id}/notes/${note}`,
    `${one.path}/discussions/${theirs.id}/notes/${note}`,
    `${two.path}/notes/${note}`,
  ])
    for (const method of ['PUT', 'DELETE'] as const)
      assert.equal((await call(method, path, author, { body: 'x' })).status, 404, path)
})

test('a thread is begun in whichever form it is sent, and what is no text is refused', async () => {
  const about = await makeIssue(world(), project)
  const path = `${about.path}/discussions`
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const many = { 'content-type': 'multipart/form-data; boundary=b' }
  const part = '--b\r\ncontent-disposition: form-data; name="body"\r\n\r\nhere\r\n--b--\r\n'
  for (const [query, more] of [
    ['?body=here', {}],
    ['', { body: 'body=here', headers: form }],
    ['', { body: part, headers: many }],
    ['', { body: { body: 'here', created_at: '', color: [1] } }],
  ] as const) {
    const answer = await world().call('POST', path + query, { as: author, ...more })
    assert.deepEqual([answer.status, (answer.body as Thread).notes?.[0]?.body], [201, 'here'], answer.text)
  }
  const id = (await threads(about))[0]?.id
  for (const [below, body, error] of [
    ['', { body: null }, 'body is missing'],
    ['', { body: ['x'] }, 'body is invalid'],
    ['', { body: { a: 1 } }, 'body is invalid'],
    ['', { body: 'x', created_at: 12_345 }, 'created_at is invalid'],
    [`/${id}/notes`, {}, 'body is missing'],
    [`/${id}/notes`, { body: 'x', note_id: 'first' }, 'note_id is invalid'],
  ] as const) {
    const answer = await call('POST', path + below, author, body)
    assert.deepEqual([answer.status, answer.body], [400, { error }])
  }
})
