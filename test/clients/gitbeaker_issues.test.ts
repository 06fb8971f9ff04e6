/* The unmodified client @gitbeaker/rest plans work with issues, on the real program. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { errorOf, openHarbour, type Harbour } from '../support/harbour.ts'

let harbour: Harbour
before(async () => {
  harbour = await openHarbour()
})
after(() => harbour.place.clear())

const iidsOf = (found: readonly { readonly iid: unknown }[]): unknown[] => found.map(({ iid }) => iid)

test('it creates, lists, finds, changes, counts, closes and removes issues', async () => {
  const { Issues, IssuesStatistics } = harbour.as('owner')
  const { projectId, groupId } = harbour
  const first = await Issues.create(projectId, 'Docks leak', {
    description: 'At night',
    labels: 'bug,wet',
    weight: 2,
  })
  const second = await Issues.create(projectId, 'Hidden', { confidential: true })
  assert.deepEqual([first.iid, first.labels, second['confidential']], [1, ['bug', 'wet'], true])
  assert.deepEqual(iidsOf(await Issues.all({ projectId })), [2, 1])
  assert.deepEqual(iidsOf(await Issues.all({ projectId, labels: 'bug', withLabelsDetails: true })), [1])
  assert.deepEqual(iidsOf(await Issues.all({ projectId, search: 'leak', not: { labels: 'ui' } })), [1])
  assert.deepEqual(iidsOf(await Issues.all({ groupId, iids: [1] })), [1])
  assert.deepEqual(
    iidsOf(await Issues.all({ scope: 'created_by_me', orderBy: 'created_at', sort: 'asc' })),
    [1, 2],
  )
  assert.deepEqual(iidsOf(await harbour.as('stranger').Issues.all({ projectId })), [1])
  assert.deepEqual(await Issues.show(1, { projectId }), first)
  assert.equal((await harbour.as('root').Issues.show(first.id)).title, 'Docks leak')
  const changed = await Issues.edit(projectId, 1, {
    title: 'Docks leaked',
    removeLabels: 'wet',
    stateEvent: 'close',
  })
  assert.deepEqual([changed.title, changed.labels, changed.state], ['Docks leaked', ['bug'], 'closed'])
  assert.deepEqual((await IssuesStatistics.all({ projectId })).statistics, {
    counts: { all: 2, closed: 1, opened: 1 },
  })
  await Issues.remove(projectId, 2)
  assert.equal((await errorOf(Issues.show(2, { projectId }))).message, '404 Not found')
})

test('it keeps time, subscribes, reminds and reads what became of an issue', async () => {
  const { Issues, IssueLabelEvents, IssueStateEvents, TodoLists } = harbour.as('owner')
  const { projectId } = harbour
  const { iid } = await Issues.create(projectId, 'Timed', { labels: 'bug' })
  assert.equal((await Issues.addTimeEstimate(projectId, iid, '3h30m')).human_time_estimate, '3h 30m')
  assert.equal((await Issues.addSpentTime(projectId, iid, '1h')).total_time_spent, 3600)
  assert.equal((await Issues.showTimeStats(projectId, iid)).time_estimate, 12_600)
  assert.equal((await Issues.resetSpentTime(projectId, iid)).total_time_spent, 0)
  assert.equal((await Issues.resetTimeEstimate(projectId, iid)).time_estimate, 0)
  assert.equal((await Issues.unsubscribe(projectId, iid)).subscribed, false)
  assert.equal((await Issues.subscribe(projectId, iid)).subscribed, true)
  assert.equal((await Issues.allParticipants(projectId, iid)).length, 1)
  const todo = await Issues.createTodo(projectId, iid)
  assert.deepEqual(
    (await TodoLists.all()).map(({ id }) => id),
    [todo.id],
  )
  assert.equal((await TodoLists.done({ todoId: todo.id }))?.['state'], 'done')
  const [label] = await IssueLabelEvents.all(projectId, iid)
  assert.equal(label?.label.name, 'bug')
  await Issues.edit(projectId, iid, { stateEvent: 'close' })
  const [state] = await IssueStateEvents.all(projectId, iid)
  assert.equal(state?.state, 'closed')
})

test('it hears why an issue will not do', async () => {
  const { Issues } = harbour.as('owner')
  const { projectId } = harbour
  assert.equal((await errorOf(Issues.edit(projectId, 1, { weight: -1 }))).status, 400)
  assert.equal(
    (await errorOf(Issues.all({ projectId, authorId: 1, authorUsername: 'a' } as never))).status,
    400,
  )
  assert.equal((await errorOf(harbour.as('stranger').Issues.remove(projectId, 1))).message, '403 Forbidden')
})
