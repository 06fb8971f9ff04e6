import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Someone } from '../../../test/support/makers.ts'
import { makeIssue, type Made } from '../../../test/support/noteables.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Project } from '../../db/schema/tables.ts'

let developer: Someone
let owner: Someone
let project: Project
const world = sharedWorld(async ({ make }) => {
  project = await make.project({ visibility: 'private' })
  developer = await make.memberOf('developer', { project })
  owner = await make.memberOf('owner', { project })
  await make.sql(`insert into labels (project_id, title, color) values (${project.id}, 'bug', '#111111')`)
})
interface Note {
  readonly id: number
  readonly body: string
  readonly created_at: string
  readonly updated_at: string
}
interface Thread {
  readonly id: string
  readonly notes: Note[]
}
const FULL = { message: '400 Bad request - Note {:base=>["Maximum number of comments exceeded"]}' }
const say = (path: string, body = 'more', method: 'POST' | 'PUT' = 'POST'): Promise<Answered> =>
  world().call(method, path, { as: developer, body: { body } })
const begin = async (about: Made, body: string): Promise<Thread> =>
  (await say(`${about.path}/discussions`, body)).body as Thread
/** Says `text` many times in a thread. */
const fill = ({ id }: Thread, count: number, text = `'Answer ' || i`): Promise<void> =>
  world().make.sql(`
    insert into notes (discussion_id, noteable_id, author_id, type, body)
    select d.id, d.noteable_id, ${developer.id}, 'DiscussionNote', ${text}
      from discussions d, generate_series(1, ${count}) i where d.key = '${id}' order by i`)

test('a thread of five thousand notes stands whole in the list, for as many statements as one of a single note', async () => {
  const about = await makeIssue(world(), project)
  const [giant, small] = [await begin(about, 'The giant'), await begin(about, 'The small one')]
  const list = (): Promise<Answered> => world().get(`${about.path}/discussions`, developer)
  // That the token is used is written down beside the first answers.
  await list()
  const one = await world().statements(list)
  await fill(giant, 4_998)
  assert.equal((await world().statements(list)).length, one.length)
  const { body: threads, headers: counts } = await list()
  const [first, second, ...none] = threads as Thread[]
  assert.deepEqual([first?.id, second?.id, none], [giant.id, small.id, []])
  assert.deepEqual(
    first?.notes.map(({ body }) => body),
    ['The giant', ...Array.from({ length: 4_998 }, (_, i) => `Answer ${i + 1}`)],
  )
  assert.equal(counts['x-total'], '2')
  const page = `${about.path}/discussions/${giant.id}/notes?per_page=2&page=2500`
  const { body, headers } = await world().get(page, developer)
  assert.deepEqual([(body as Note[]).map((note) => note.body), headers['x-total']], [['Answer 4998'], '4999'])
})

test('no more than five thousand comments are made on one thing; what the service says goes on', async () => {
  const about = await makeIssue(world(), project)
  const thread = await begin(about, 'First')
  await fill(thread, 4_998)
  const at = `${about.path}/discussions/${thread.id}/notes`
  const both = await Promise.all([say(at), say(`${about.path}/notes`), say(`${about.path}/discussions`)])
  assert.equal(both.filter(({ status }) => status === 201).length, 1, 'one was left')
  for (const path of [at, `${about.path}/notes`, `${about.path}/discussions`]) {
    const answer = await say(path)
    assert.deepEqual([answer.status, answer.body], [400, FULL])
  }
  const closing = await say(`${about.path}/notes`, '/close')
  assert.equal(closing.status, 202, 'a command makes no comment')
  const noted = await world().get(`${about.path}/notes?activity_filter=only_activity`, developer)
  assert.deepEqual(
    (noted.body as Note[]).map(({ body }) => body),
    ['closed'],
  )
  const gone = `${at}/${thread.notes[0]?.id}`
  assert.equal((await world().call('DELETE', gone, { as: developer })).status, 204)
  assert.equal((await say(at)).status, 201, 'where one goes another finds room')
})

test('the comments on one thing hold so much text that all of it can be answered at once', async () => {
  const about = await makeIssue(world(), project)
  const thread = await begin(about, 'First')
  const [note] = thread.notes
  const at = `${about.path}/discussions/${thread.id}/notes`
  const longer = 'Longer than the first'
  await fill(thread, 33, `repeat('x', 1000000)`)
  assert.equal((await say(at)).status, 201)
  await fill(thread, 1, `repeat('x', 1000000)`)
  for (const answer of [
    await say(at),
    await say(`${about.path}/notes`),
    await say(`${at}/${note?.id}`, longer, 'PUT'),
  ])
    assert.deepEqual([answer.status, answer.body], [400, FULL])
  assert.equal((await say(`${at}/${note?.id}`, 'Less', 'PUT')).status, 200, 'less may be said instead')
})

test('an older answer stands first and makes its thread older; of the same moment the first written is first', async () => {
  const about = await makeIssue(world(), project)
  const path = `${about.path}/discussions`
  const open = async (body: object, as = owner): Promise<Thread> => {
    const answer = await world().call('POST', path, { as, body })
    assert.equal(answer.status, 201, answer.text)
    return answer.body as Thread
  }
  const thread = await open({ body: 'new' })
  await open({ body: 'newest', created_at: '2019-01-01' }, developer)
  for (const [body, created_at] of [
    ['tie', '2019-01-01T02:00:00+02:00'],
    ['tied', '2019-01-01'],
  ])
    await open({ body, created_at })
  const at = { body: 'old', created_at: '2019-01-01T00:00:00Z' }
  const answer = await world().call('POST', `${path}/${thread.id}/notes`, { as: owner, body: at })
  const { created_at, updated_at } = answer.body as Note
  assert.deepEqual([created_at, updated_at], ['2019-01-01T00:00:00.000Z', '2019-01-01T00:00:00.000Z'])
  const late = await world().call('POST', `${path}/${thread.id}/notes`, {
    as: developer,
    body: { ...at, body: 'late' },
  })
  assert.ok((late.body as Note).created_at > '2020', 'from others it is not heard')
  const list = (await world().get(path, developer)).body as { notes: Note[] }[]
  assert.deepEqual(
    list.map(({ notes }) => notes.map(({ body }) => body)),
    [['tie'], ['tied'], ['old', 'new', 'late'], ['newest']],
  )
})

test('a text holds a million characters, however they are written, and no more; blanks are none', async () => {
  const about = await makeIssue(world(), project)
  const thread = await begin(about, 'First')
  const [note] = thread.notes
  const threads = `${about.path}/discussions`
  const places = [
    ['POST', `${about.path}/notes`],
    ['POST', threads],
    ['POST', `${threads}/${thread.id}/notes`],
    ['PUT', `${threads}/${thread.id}/notes/${note?.id}`],
    ['PUT', `${about.path}/notes/${note?.id}`],
  ] as const
  const said = async (): Promise<string> => (await world().get(threads, developer)).text
  const before = await said()
  for (const [method, path] of places) {
    const long = await say(path, 'x'.repeat(1_000_001), method)
    const why = { message: '400 Bad request - Note {:note=>["is too long (maximum is 1000000 characters)"]}' }
    assert.deepEqual([long.status, long.body], [400, why], path)
    const blank = await say(path, ' \n', method)
    const refusals = [
      { message: `400 Bad request - Note {:note=>["can't be blank"]}` },
      { error: 'body is empty' },
    ]
    assert.equal(blank.status, 400)
    assert.ok(
      refusals.some((one) => isDeepStrictEqual(one, blank.body)),
      blank.text,
    )
  }
  assert.equal(await said(), before)
  const emoji = '\u{1F600}'.repeat(1_000_000)
  assert.equal((await say(`${threads}/${thread.id}/notes`, emoji)).status, 201)
  const escaped = `{"description":"${'\\u00e9'.repeat(1_000_000)}"}`
  const json = { 'content-type': 'application/json' }
  const changed = await world().call('PUT', about.path, { as: developer, body: escaped, headers: json })
  assert.equal(changed.status, 200, changed.text.slice(0, 200))
})

test('a note of a thread that changed since is not deleted', async () => {
  const about = await makeIssue(world(), project)
  const thread = await begin(about, 'First')
  const path = `${about.path}/discussions/${thread.id}/notes/${thread.notes[0]?.id}`
  const drop = (since: string): Promise<Answered> =>
    world().call('DELETE', path, { as: developer, headers: { 'if-unmodified-since': since } })
  const late = await drop('Mon, 01 Jan 2001 00:00:00 GMT')
  assert.deepEqual([late.status, late.body], [412, { message: '412 Precondition Failed' }])
  assert.equal((await drop(new Date().toUTCString())).status, 204)
})

test('a hundred commands in a text are obeyed, and as many people and things are looked for, whatever its length', async () => {
  const about = await makeIssue(world(), project)
  const cost = (body: string): Promise<string[]> => world().statements(() => say(`${about.path}/notes`, body))
  const many = (count: number, word: (i: number) => string): string =>
    Array.from({ length: count }, (_, i) => word(i)).join('')
  for (const word of [
    () => '/label ~bug\n',
    () => '/assign me\n',
    (i: number) => `@somebody-${i} `,
    (i: number) => `#${90_000 + i} `,
  ]) {
    await cost(many(100, word))
    assert.equal((await cost(many(20_000, word))).length, (await cost(many(100, word))).length)
  }
  const wide = ' '.repeat(999_900)
  for (const body of [`/spend 1h${wide}x`, `/estimate${wide}x`, `/title ${wide}"`, `/due in 1${wide}day`])
    assert.ok([202, 400].includes((await say(`${about.path}/notes`, body)).status), 'blanks are read once')
  const spent = await say(`${about.path}/notes`, `/spend 1h${wide}2026-01-02`)
  assert.deepEqual((spent.body as { summary: string[] }).summary, ['Added 1h spent time.'])
})
