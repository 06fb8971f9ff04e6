import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { openWorkshop } from '../../../test/support/merge_makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

let [planner, guest]: Someone[] = []
let group: Namespace
let project: Project
const world = sharedWorld(async ({ make }) => {
  group = await make.group({ visibility: 'private' })
  project = await make.project({ group, visibility: 'private' })
  guest = await make.memberOf('guest', { group })
  planner = await make.memberOf('planner', { group })
  await make.sql(`insert into labels (group_id, title, color) values (${group.id}, 'bug', '#111111')`)
})
type Row = Record<string, unknown> & { readonly id: number; readonly iid: number }
async function send(method: 'POST' | 'PUT', path: string, body: object, as = planner): Promise<Row> {
  const answer = await world().call(method, path, { as, body })
  assert.equal(answer.status, method === 'POST' ? 201 : 200, answer.text)
  return answer.body as Row
}
const notesOn = ({ id }: Row): Promise<object[]> =>
  rowsOf(world(), 'select body from notes where noteable_id = $1 order by id', [id])
const issues = (): string => `/projects/${project.id}/issues`

test('commands in the description of a new issue are obeyed and left out of it, without a word', async () => {
  const description =
    'It hurts.\n/label ~bug\n/weight 3\n/assign me\n/estimate 2h\n/title Better\n/close\nHere.'
  const made = await send('POST', issues(), { title: 'Worse', description })
  assert.deepEqual(
    [made['description'], made['title'], made['labels'], made['weight'], made['state']],
    ['It hurts.\nHere.', 'Better', ['bug'], 3, 'opened'],
    'what is new is not closed',
  )
  assert.deepEqual(
    [(made['assignee'] as { id: number }).id, made['time_stats']],
    [
      planner?.id,
      { time_estimate: 7200, total_time_spent: 0, human_time_estimate: '2h', human_total_time_spent: null },
    ],
  )
  assert.deepEqual(await notesOn(made), [])
  const code = '```\n/weight 3\n```\n/unknown'
  const plain = await send('POST', issues(), { title: 'x', description: code })
  assert.deepEqual([plain['description'], plain['weight']], [code, null])
  const hidden = await send('POST', issues(), {
    title: 'x',
    description: `/confidential\n@${guest?.username}`,
  })
  assert.equal(hidden['confidential'], true)
  assert.deepEqual(await rowsOf(world(), 'select id from todos where noteable_id = $1', [hidden.id]), [])
})

test('members say in the description of their own new issue what they may say beside it, and later what they may then', async () => {
  const made = await send('POST', issues(), { title: 'x', description: '/label ~bug' }, guest)
  assert.deepEqual([made['description'], made['labels']], ['', ['bug']])
  const path = `${issues()}/${made.iid}`
  const body = { description: 'Now:\n/unlabel ~bug\n/title Mine' }
  const changed = await send('PUT', path, body, guest)
  assert.deepEqual(
    [changed['description'], changed['labels'], changed['title']],
    ['Now:', ['bug'], 'Mine'],
    'labels are for those who plan',
  )
  const planned = await send('PUT', path, { description: '/unlabel ~bug\n/close', weight: 1 })
  assert.deepEqual(
    [planned['description'], planned['labels'], planned['state'], planned['weight']],
    ['', [], 'closed', 1],
  )
})

test('descriptions of merge requests and epics are obeyed alike', async () => {
  const shop = await openWorkshop(world())
  const iid = await shop.open('topic', { description: 'Look.\n/assign me\n/title Draft: not yet' })
  const shown = (await shop.ask('GET', `/${iid}`)).body as Row
  assert.deepEqual(
    [shown['description'], shown['title'], shown['draft'], (shown['assignee'] as { id: number }).id],
    ['Look.', 'Draft: not yet', true, shop.owner.id],
  )
  assert.deepEqual(
    (await notesOn(shown)).filter((note) => !JSON.stringify(note).includes('commit')),
    [],
  )
  const closed = (await shop.ask('PUT', `/${iid}`, { body: { description: '/close' } })).body as Row
  assert.deepEqual([closed['description'], closed['state']], ['', 'closed'])
  await shop.open('topic')
  const twin = await shop.ask('PUT', `/${iid}`, { body: { description: '/reopen' } })
  assert.equal(twin.status, 409, twin.text)

  const path = `/groups/${group.id}/epics`
  const epic = await send('POST', path, { title: 'x', description: 'Big.\n/label ~bug\n/confidential' })
  assert.deepEqual([epic['description'], epic['labels'], epic['confidential']], ['Big.', ['bug'], true])
  const after = await send('PUT', `${path}/${epic.iid}`, { description: 'Done.\n/close' })
  assert.deepEqual([after['description'], after['state']], ['Done.', 'closed'])
  assert.deepEqual(await notesOn(epic), [{ body: 'closed' }])
})
