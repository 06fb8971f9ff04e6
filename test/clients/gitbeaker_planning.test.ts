/* Milestones and iterations by the unmodified client @gitbeaker/rest, against the real program. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { errorOf, openHarbour, type Harbour } from '../support/harbour.ts'

let harbour: Harbour
before(async () => {
  harbour = await openHarbour()
})
after(() => harbour.place.clear())

const TAKEN =
  'Failed to create milestone {:title=>["already being used for another group or project milestone."]}'

test('it plans with milestones of a project, from the first to the last call', async () => {
  const { projectId, server, as } = harbour
  const { ProjectMilestones } = as('owner')
  const made = await ProjectMilestones.create(projectId, 'v1', {
    description: 'The first',
    startDate: '2020-01-01',
    dueDate: '2020-02-01',
  })
  const { id, created_at, updated_at, ...rest } = made
  assert.ok(created_at !== '' && updated_at !== '')
  assert.deepEqual(rest, {
    iid: 1,
    project_id: projectId,
    title: 'v1',
    description: 'The first',
    state: 'active',
    start_date: '2020-01-01',
    due_date: '2020-02-01',
    expired: true,
    web_url: `${server.url.replace('127.0.0.1', 'localhost')}/harbour/gateway.x/-/milestones/1`,
  })
  assert.deepEqual(await ProjectMilestones.show(projectId, id), made)
  assert.deepEqual(await ProjectMilestones.all('harbour/gateway.x', { state: 'active', iids: [1] }), [made])
  assert.deepEqual(await ProjectMilestones.all(projectId, { search: 'FIRST', title: 'v1' }), [made])
  assert.deepEqual(await ProjectMilestones.all(projectId, { state: 'closed' }), [])
  const closed = await ProjectMilestones.edit(projectId, id, { stateEvent: 'close', description: '' })
  assert.deepEqual([closed.state, closed.description], ['closed', null])
  assert.deepEqual(await ProjectMilestones.allAssignedIssues(projectId, id), [])
  assert.deepEqual(await ProjectMilestones.allAssignedMergeRequests(projectId, id), [])
  assert.deepEqual(await ProjectMilestones.allBurndownChartEvents(projectId, id), [])
  await ProjectMilestones.remove(projectId, id)
  assert.deepEqual(await errorOf(ProjectMilestones.show(projectId, id)), {
    status: 404,
    message: '404 Not found',
  })
})

test('it promotes a milestone and goes on with it in the group', async () => {
  const { projectId, groupId, as } = harbour
  const { ProjectMilestones, GroupMilestones } = as('owner')
  const { id } = await ProjectMilestones.create(projectId, 'v2')
  await ProjectMilestones.promote(projectId, id)
  const [promoted] = await GroupMilestones.all(groupId, { title: 'v2' })
  assert.ok(promoted)
  assert.equal(promoted.title, 'v2')
  assert.deepEqual(await errorOf(ProjectMilestones.create(projectId, 'v2')), { status: 400, message: TAKEN })
  assert.deepEqual(
    (await ProjectMilestones.all(projectId, { includeAncestors: true } as object)).map((one) => one.id),
    [promoted.id],
  )
  const { title } = await GroupMilestones.edit(groupId, promoted.id, { title: 'v2.1', dueDate: '2031-01-01' })
  assert.equal(title, 'v2.1')
  assert.equal((await GroupMilestones.show(groupId, promoted.id)).due_date, '2031-01-01')
  assert.deepEqual(await GroupMilestones.allAssignedIssues(groupId, promoted.id), [])
  assert.deepEqual(await GroupMilestones.allAssignedMergeRequests(groupId, promoted.id), [])
  assert.deepEqual(await GroupMilestones.allBurndownChartEvents(groupId, promoted.id), [])
  await GroupMilestones.remove(groupId, promoted.id)
  const other = await GroupMilestones.create(groupId, 'v3', { startDate: '2031-01-01' })
  assert.equal(other.iid, 2)
})

test('strangers look and do not touch', async () => {
  const { projectId, as, clientFor } = harbour
  const { ProjectMilestones } = as('stranger')
  assert.deepEqual(await ProjectMilestones.all(projectId), [])
  assert.deepEqual(await errorOf(ProjectMilestones.create(projectId, 'no')), {
    status: 403,
    message: '403 Forbidden',
  })
  assert.deepEqual(await errorOf(clientFor().ProjectMilestones.all(projectId)), {
    status: 401,
    message: '401 Unauthorized',
  })
})

test('it lists iterations of a project and of a group', async () => {
  const { projectId, groupId, place, as } = harbour
  const line = 'iteration create --group harbour --title Sail --start-date 2020-01-01 --due-date 2020-01-14'
  const { id } = await place.json(line.split(' '))
  const { ProjectIterations, GroupIterations } = as('stranger')
  for (const list of [
    await ProjectIterations.all(projectId, { state: 'closed', search: 'sail' }),
    await GroupIterations.all(groupId, { includeAncestors: true }),
  ]) {
    const [{ id: shown, title, state } = { id: 0, title: '', state: 0 }, ...more] = list
    assert.deepEqual([shown, title, state, more], [id, 'Sail', 3, []])
  }
  assert.deepEqual(await GroupIterations.all(groupId, { state: 'upcoming' }), [])
})

test('a release tool finds a milestone of the group by its title from the project', async () => {
  const { server, tokens } = harbour
  const address = `${server.url}/api/v4/projects/harbour%2Fgateway.x/milestones?title=v3&include_parent_milestones=true`
  const answer = await fetch(address, { headers: { 'Private-Token': tokens.owner } })
  const found = (await answer.json()) as { title: string }[]
  assert.deepEqual([answer.status, found.map(({ title }) => title)], [200, ['v3']])
})

test('it plans with epics, and puts issues into them', async () => {
  const { projectId, groupId, as } = harbour
  const { Epics, EpicIssues, Issues } = as('owner')
  const made = await Epics.create(groupId, 'Sail', { description: 'far', labels: 'wind' })
  const { iid } = made
  assert.deepEqual([made.title, made.state, made.labels], ['Sail', 'opened', ['wind']])
  assert.deepEqual(await Epics.show(groupId, iid), made)
  assert.deepEqual(
    (await Epics.all(groupId, { state: 'opened', search: 'sail' })).map((epic) => epic.id),
    [made.id],
  )
  const issue = await Issues.create(projectId, 'Hoist')
  await EpicIssues.assign(groupId, iid, issue.id)
  const [inside] = await EpicIssues.all(groupId, iid)
  assert.ok(inside)
  assert.deepEqual([inside.id, inside.title], [issue.id, 'Hoist'])
  await EpicIssues.remove(groupId, iid, Number(inside.epic_issue_id))
  assert.deepEqual(await EpicIssues.all(groupId, iid), [])
  const edited = await Epics.edit(groupId, iid, { stateEvent: 'close', title: 'Moor' })
  assert.deepEqual([edited.title, edited.state], ['Moor', 'closed'])
  await Epics.remove(groupId, iid)
  assert.deepEqual(await errorOf(Epics.show(groupId, iid)), { status: 404, message: '404 Not found' })
})
