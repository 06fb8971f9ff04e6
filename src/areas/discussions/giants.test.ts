import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { makeIssue, type Made } from '../../../test/support/noteables.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Project } from '../../db/schema.ts'

let developer: Someone
let project: Project
const world = sharedWorld(async ({ make }) => {
  project = await make.project({ visibility: 'private' })
  developer = await make.memberOf('developer', { project })
})
interface Note {
  readonly id: number
  readonly body: string
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
