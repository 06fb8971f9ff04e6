import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

let shop: Workshop
let other: Someone
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here)
  other = await here.make.memberOf('maintainer', { project: shop.project })
})

interface Shown {
  readonly id: number
  readonly iid: number
}
type Deed = readonly [method: 'POST' | 'PUT', path: string, body?: object]

const waiting = async (id: number): Promise<number[]> =>
  (
    await rowsOf<{ user_id: number }>(
      world(),
      `select user_id from todos where noteable_id = $1 and state = 'pending' order by user_id`,
      [id],
    )
  ).map(({ user_id }) => user_id)
const remind = (id: number): Promise<void> =>
  world().make.sql(`
    insert into todos (user_id, project_id, noteable_id, action_name)
    select u, ${shop.project.id}, ${id}, 'assigned' from unnest(array[${shop.owner.id}, ${other.id}]) u
    on conflict do nothing`)
const done = async (path: string, [method, rest, body]: Deed, as = shop.owner): Promise<Answered> => {
  const answer = await world().call(method, path + rest, { as, ...(body && { body }) })
  assert.ok(answer.status < 300, `${method} ${path}${rest} ${answer.text}`)
  return answer
}
const both = (): number[] => [shop.owner.id, other.id]

/** Each of the deeds ends the reminder of whoever does it, and of nobody else. */
async function seenBy(path: string, id: number, deeds: readonly Deed[]): Promise<void> {
  for (const deed of deeds) {
    await remind(id)
    await done(path, deed)
    assert.deepEqual(await waiting(id), [other.id], JSON.stringify(deed))
  }
}
/** After any of these all wait still. */
async function notSeenBy(path: string, id: number, deeds: readonly Deed[]): Promise<void> {
  for (const deed of deeds) {
    await remind(id)
    await done(path, deed)
    assert.deepEqual(await waiting(id), both(), JSON.stringify(deed))
  }
}

const WORDS: readonly Deed[] = [
  ['PUT', '', { title: 'another' }],
  ['PUT', '', { description: 'more' }],
  ['PUT', '', { add_labels: 'seen' }],
  ['PUT', '', { remove_labels: 'seen' }],
]
const CLOSING: readonly Deed[] = [['PUT', '', { state_event: 'close' }]]
const REOPENING: readonly Deed[] = [['PUT', '', { state_event: 'reopen' }]]
const SAYING: readonly Deed[] = [
  ['POST', '/notes', { body: 'a comment' }],
  ['POST', '/discussions', { body: 'a thread' }],
  ['POST', '/notes', { body: 'for them' }],
  ['POST', '/notes', { body: '/title by a command' }],
]
const planned = async (): Promise<readonly Deed[]> => {
  const { id } = await rowOf<Shown>(
    world(),
    `insert into milestones (iid, project_id, title)
     select count(*) + 1, $1, 'v' || count(*) from milestones where project_id = $1 returning id`,
    [shop.project.id],
  )
  return [
    ['PUT', '', { milestone_id: id }],
    ['PUT', '', { assignee_ids: [other.id] }],
    ['PUT', '', { assignee_ids: [] }],
  ]
}
async function answersAThread(path: string, id: number): Promise<void> {
  const thread = (await done(path, ['POST', '/discussions', { body: 'What now?' }])).body as { id: string }
  await seenBy(path, id, [['POST', `/discussions/${thread.id}/notes`, { body: 'This' }]])
}

test('commenting on an issue or changing it completes its to-do items', async () => {
  const issues = `/projects/${shop.project.id}/issues`
  const { id, iid } = (await done(issues, ['POST', '', { title: 'Docks leak' }])).body as Shown
  const path = `${issues}/${iid}`
  await seenBy(path, id, [...WORDS, ...(await planned()), ...SAYING, ...CLOSING])
  await notSeenBy(path, id, [
    ...REOPENING,
    ['PUT', '', { weight: 3 }],
    ['PUT', '', { title: 'by a command' }],
    ['POST', '/notes', { body: '/unsubscribe' }],
    ['POST', '/time_estimate', { duration: '1h' }],
  ])
  await answersAThread(path, id)
  await seenBy(path, id, [['POST', '/award_emoji', { name: 'tada' }]])
})

test('commenting on an epic or changing it completes its to-do items', async () => {
  const { make, call } = world()
  const group = await make.group()
  await make.member(shop.owner, 'owner', { group })
  const epics = `/groups/${group.id}/epics`
  const epic = (await call('POST', epics, { as: shop.owner, body: { title: 'Sail' } })).body as Shown
  const path = `${epics}/${epic.iid}`
  await seenBy(path, epic.id, [...WORDS, ...CLOSING])
  await notSeenBy(path, epic.id, [...REOPENING, ['PUT', '', { color: 'red' }]])
  await seenBy(`${epics}/${epic.id}`, epic.id, SAYING)
  await answersAThread(`${epics}/${epic.id}`, epic.id)
})

test('commenting on, changing, approving or merging a merge request completes its to-do items', async () => {
  const requests = `/projects/${shop.project.id}/merge_requests`
  const issue = (await done(`/projects/${shop.project.id}/issues`, ['POST', '', { title: 'Mast' }]))
    .body as Shown
  const iid = await shop.open('mast')
  const path = `${requests}/${iid}`
  const { id } = (await shop.ask('GET', `/${iid}`)).body as Shown
  await seenBy(path, id, [
    ...WORDS,
    ...(await planned()),
    ['PUT', '', { reviewer_ids: [other.id] }],
    ...SAYING,
    ...CLOSING,
  ])
  await notSeenBy(path, id, [...REOPENING, ['PUT', '', { squash: true }]])
  await answersAThread(path, id)
  await seenBy(path, id, [['POST', '/approve']])
  await done(path, ['PUT', '', { description: `Closes #${issue.iid}` }])
  await remind(issue.id)
  await seenBy(path, id, [['PUT', '/merge']])
  assert.deepEqual(await waiting(issue.id), [other.id], 'and what it closes')
})

test('to-do items that the same text creates stay pending', async () => {
  const issues = `/projects/${shop.project.id}/issues`
  const { id, iid } = (await done(issues, ['POST', '', { title: 'Keel' }])).body as Shown
  const say = (body: string, as = shop.owner): Promise<Answered> =>
    done(`${issues}/${iid}`, ['POST', '/notes', { body }], as)
  await say('Later\n/todo\n/title Keels')
  assert.deepEqual(await waiting(id), [shop.owner.id])
  await say(`@${other.username} look`)
  assert.deepEqual(await waiting(id), [other.id])
  await say(`@${shop.owner.username} you`, other)
  assert.deepEqual(await waiting(id), [shop.owner.id])
  await say('/todo\n/done', other)
  assert.deepEqual(await waiting(id), [shop.owner.id], 'a text may take back what it asked for')
})
