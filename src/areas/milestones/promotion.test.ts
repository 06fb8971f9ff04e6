import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Namespace } from '../../db/schema/tables.ts'

const world = sharedWorld()

interface Shown {
  readonly id: number
  readonly [name: string]: unknown
}
interface Place {
  readonly group: Namespace
  readonly planner: Someone
}
async function place(parent?: Namespace): Promise<Place> {
  const group = await world().make.group(parent ? { parent } : {})
  return { group, planner: await world().make.memberOf('planner', { group }) }
}

/** A project in the group with a milestone of that title, an issue, a merge request and an event at it. */
async function milestoneIn(
  group: Namespace,
  title: string,
  more = {},
): Promise<{ path: string; id: number }> {
  const { id: project } = await world().make.project({ group })
  const {
    description = null,
    start_date = null,
    due_date = null,
    state = 'active',
  } = more as Record<string, string>
  const { id } = await rowOf<{ id: number }>(
    world(),
    `insert into milestones (iid, project_id, title, description, start_date, due_date, state)
     values (1, $1, $2, $3, $4, $5, $6) returning id`,
    [project, title, description, start_date, due_date, state],
  )
  for (const table of ['issues', 'merge_requests'])
    await rowsOf(
      world(),
      `with made as (insert into ${table} (iid, project_id, title, milestone_id) values (9000, $1, 'one', $2) returning id)
       insert into resource_milestone_events (noteable_id, milestone_id, action, state)
       select id, $2, 'add', 'opened' from made`,
      [project, id],
    )
  return { path: `/projects/${project}/milestones/${id}`, id }
}
const promote = (path: string, as: Someone): Promise<Answered> =>
  world().call('POST', `${path}/promote`, { as })

/** How many issues, merge requests and events stand at each milestone that bears the title. */
const standing = (title: string): Promise<unknown[]> =>
  rowsOf(
    world(),
    `select m.group_id, (select count(*)::int from issues i where i.milestone_id = m.id) as issues,
            (select count(*)::int from merge_requests r where r.milestone_id = m.id) as requests,
            (select count(*)::int from resource_milestone_events e where e.milestone_id = m.id) as events
       from milestones m where m.title = $1`,
    [title],
  )
const said = ({ status, body }: Answered): unknown[] => [status, body]

test('promotion makes one milestone of all that bear the title in projects of the group', async () => {
  const { group, planner } = await place()
  const values = { description: 'what', start_date: '2030-01-01', due_date: '2030-02-01' }
  const one = await milestoneIn(group, 'merged', { ...values, state: 'closed' })
  await milestoneIn(group, 'merged', { description: 'another' })
  const other = await milestoneIn(group, 'untouched')
  const answer = await promote(one.path, planner)
  assert.equal(answer.status, 200, answer.text)
  const { id, group_id, iid, title, state, ...rest } = answer.body as Shown
  assert.deepEqual([group_id, iid, title, state], [group.id, 1, 'merged', 'active'])
  for (const [name, value] of Object.entries(values)) assert.equal(rest[name], value)
  assert.deepEqual(await standing('merged'), [{ group_id: group.id, issues: 2, requests: 2, events: 4 }])
  assert.deepEqual((await world().get(`/groups/${group.id}/milestones/${id}`, planner)).body, answer.body)
  assert.deepEqual(said(await world().get(one.path, planner)), [404, { message: '404 Not found' }])
  assert.equal((await world().get(other.path, planner)).status, 200)
})

test('of fifty who promote one title at once one makes the group milestone, and everything is at it', async () => {
  const { group, planner } = await place()
  const all = await Promise.all(Array.from({ length: 50 }, () => milestoneIn(group, 'rush')))
  const answers = await Promise.all(all.map(({ path }) => promote(path, planner)))
  const statuses = answers.map(({ status }) => status).sort((a, b) => a - b)
  assert.deepEqual(statuses, [200, ...Array.from({ length: 49 }, () => 404)])
  assert.deepEqual(await standing('rush'), [{ group_id: group.id, issues: 50, requests: 50, events: 100 }])
})

test('issues that are set to it meanwhile are either at the new milestone or refused', async () => {
  const { group, planner } = await place()
  const { path, id } = await milestoneIn(group, 'meanwhile')
  const late = Array.from({ length: 10 }, (_, i) =>
    rowsOf(
      world(),
      `insert into issues (iid, project_id, title, milestone_id)
       select ${i} + 100, project_id, 'late', id from milestones where id = $1`,
      [id],
    ).catch(() => undefined),
  )
  const [answer] = await Promise.all([promote(path, planner), ...late])
  assert.equal(answer.status, 200, answer.text)
  const lost = await rowsOf(
    world(),
    `select i.id from issues i join projects p on p.id = i.project_id
      where p.namespace_id = $1 and i.title = 'late' and i.milestone_id is null`,
    [group.id],
  )
  assert.deepEqual(lost, [])
})

test('people who make issues meanwhile get them, at the new milestone or at none', async () => {
  const { group, planner } = await place()
  const { path, id } = await milestoneIn(group, 'busy')
  const issues = `/projects/${path.split('/')[2]}/issues`
  const make = (): Promise<Answered> =>
    world().call('POST', issues, { as: planner, body: { title: 'meanwhile', milestone_id: id } })
  const early = Array.from({ length: 10 }, make)
  const [promoted, ...answers] = await Promise.all([promote(path, planner), ...early, ...early.map(make)])
  assert.equal(promoted.status, 200, promoted.text)
  for (const { status, text } of answers) assert.equal(status, 201, text)
  const [{ issues: standing_at } = { issues: 0 }] = (await standing('busy')) as { issues: number }[]
  const lost = await rowsOf(world(), 'select id from issues where milestone_id = $1', [id])
  assert.deepEqual([lost, standing_at >= 1], [[], true])
})

test('a title that something else in the line or inside bears is not promoted, and nothing changes', async () => {
  const top = await place()
  const low = await place(top.group)
  const below = await milestoneIn(low.group, 'doubled')
  const above = await milestoneIn(top.group, 'doubled')
  const before = await contents(world())
  const text = 'Promotion failed - Title already being used for another group or project milestone.'
  assert.deepEqual(said(await promote(above.path, top.planner)), [400, { message: text }])
  assert.equal(await contents(world()), before)
  assert.equal((await promote(below.path, low.planner)).status, 200)
  assert.deepEqual(said(await promote(above.path, top.planner)), [400, { message: text }])
})

test('promotion needs Planner in the group', async () => {
  const { group } = await place()
  const { path, id } = await milestoneIn(group, 'private')
  const project = { id: Number(path.split('/')[2]) }
  const planner = await world().make.memberOf('planner', { project })
  assert.deepEqual(said(await promote(path, planner)), [403, { message: '403 Forbidden' }])
  assert.equal((await world().get(path, planner)).status, 200)
  assert.equal((await world().get(`/groups/${group.id}/milestones/${id}`, planner)).status, 404)
})
