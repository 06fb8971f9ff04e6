import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import { scheduleCadence, scheduleIterations } from '../../core/planning/iteration_schedule.ts'
import {
  IterationFault,
  createCadence,
  createIteration,
  type NewIteration,
} from '../../core/planning/iterations.ts'
import { enqueue } from '../../jobs/job.ts'
import { startJobs } from '../../open.ts'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Iteration } from '../../db/schema/planning.ts'

const world = sharedWorld()

const day = (offset: number): string => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10)
/** From one day to another, counted from today. */
const span = (from: number, to: number): Pick<NewIteration, 'start_date' | 'due_date'> => ({
  start_date: day(from),
  due_date: day(to),
})
const make = (
  group: Namespace,
  title: string,
  dates: Pick<NewIteration, 'start_date' | 'due_date'>,
  cadence?: string,
): Promise<Iteration> =>
  world().opened.instance.db.transaction((tx) =>
    createIteration(tx, group, { title, description: null, cadence, ...dates }),
  )
const titles = (answer: Answered): unknown[] => {
  assert.equal(answer.status, 200, answer.text)
  return (answer.body as { title: string }[]).map(({ title }) => title)
}
const get = (path: string, as?: Someone): Promise<Answered> => world().get(path, as)

interface Tree {
  readonly top: Namespace
  readonly low: Namespace
  readonly leaf: Namespace
  readonly project: { readonly id: number }
  readonly guest: Someone
}
/** A group, a group in it with a project, and one below that; an iteration in each. */
async function tree(visibility: 'private' | 'public' = 'private'): Promise<Tree> {
  const top = await world().make.group({ visibility })
  const low = await world().make.group({ parent: top, visibility })
  const leaf = await world().make.group({ parent: low, visibility: 'private' })
  const project = await world().make.project({ group: low, visibility })
  await make(top, 'top', span(1, 7))
  await make(low, 'low', span(-1, 3))
  await make(leaf, 'leaf', span(-9, -2))
  return { top, low, leaf, project, guest: await world().make.memberOf('guest', { group: top }) }
}

test('an iteration is shown whole, and its dates say its state', async () => {
  const { low, project, guest } = await tree()
  const answer = await get(`/projects/${project.id}/iterations?include_ancestors=false`, guest)
  const [one] = answer.body as Record<string, unknown>[]
  assert.ok(one)
  const { id, created_at, updated_at, ...rest } = one
  assert.equal(typeof id, 'number')
  for (const moment of [created_at, updated_at]) assert.match(String(moment), /^\d{4}-.*\.\d{3}Z$/)
  assert.deepEqual(rest, {
    iid: 1,
    sequence: 1,
    group_id: low.id,
    title: 'low',
    description: null,
    state: 2,
    start_date: day(-1),
    due_date: day(3),
    web_url: `https://guild.example/groups/${low.full_path}/-/iterations/1`,
  })
})

test('the groups above count unless they are left out, and those below only when they are asked for', async () => {
  const { low, project, guest } = await tree()
  const cases: [string, string[]][] = [
    ['', ['low', 'top']],
    ['?include_ancestors=false', ['low']],
    ['?include_descendants=true', ['leaf', 'low', 'top']],
    ['?include_ancestors=false&include_descendants=true', ['leaf', 'low']],
  ]
  for (const path of [
    `/projects/${project.id}/iterations`,
    `/project/${project.id}/iterations`,
    `/groups/${low.id}/iterations`,
  ])
    for (const [query, expected] of cases) {
      const answer = await get(path + query, guest)
      assert.deepEqual([titles(answer), answer.headers['x-total']], [expected, String(expected.length)], path)
    }
})

test('anybody reads those of a public project, and none of a hidden group', async () => {
  const { project, low } = await tree('public')
  for (const as of [undefined, await world().make.user()])
    for (const path of [`/projects/${project.id}/iterations`, `/groups/${low.id}/iterations`]) {
      const answer = await get(`${path}?include_descendants=true`, as)
      assert.deepEqual([titles(answer), answer.headers['x-total']], [['low', 'top'], '2'])
    }
  const hidden = await tree()
  const answer = await get(`/projects/${hidden.project.id}/iterations`)
  assert.deepEqual([answer.status, answer.body], [404, { message: '404 Project Not Found' }])
})

test('a project in a personal namespace has none', async () => {
  const user = await world().make.user()
  const home = await rowOf<Namespace>(world(), 'select * from namespaces where full_path = $1', [
    user.username,
  ])
  const project = await world().make.project({ group: home })
  assert.deepEqual(titles(await get(`/projects/${project.id}/iterations?include_descendants=true`, user)), [])
})

test('lists are narrowed by state, text and moment', async () => {
  const group = await world().make.group()
  const as = await world().make.memberOf('guest', { group })
  const past = await make(group, 'past sprint', span(-20, -11))
  await make(group, 'yesterday', span(-10, -1))
  await make(group, 'today', span(0, 0))
  await make(group, 'tomorrow', span(1, 10))
  await rowsOf(world(), `update iterations set updated_at = '2021-01-01' where id = $1`, [past.id])
  await rowsOf(world(), `update iteration_cadences set title = 'Sprints' where group_id = $1`, [group.id])
  const cases: [string, string[]][] = [
    ['state=all', ['past sprint', 'yesterday', 'today', 'tomorrow']],
    ['state=opened', ['today', 'tomorrow']],
    ['state=upcoming', ['tomorrow']],
    ['state=current', ['today']],
    ['state=started', ['today']],
    ['state=closed', ['past sprint', 'yesterday']],
    ['search=SPRINT', ['past sprint']],
    ['search=sprint&in=cadence_title', ['past sprint', 'yesterday', 'today', 'tomorrow']],
    ['search=to&in[]=title&in[]=cadence_title&state=opened', ['today', 'tomorrow']],
    ['search=sprint&in=title,cadence_title&state=opened', ['today', 'tomorrow']],
    ['in=cadence_title&state=current', ['today']],
    ['in=title', ['past sprint', 'yesterday', 'today', 'tomorrow']],
    ['search=ester&in=title&in=cadence_title', ['yesterday']],
    ['updated_before=2021-06-01T00:00:00Z', ['past sprint']],
    ['updated_after=2021-06-01T00:00:00Z&state=closed', ['yesterday']],
    ['updated_after=2020-01-01&updated_before=2021-06-01', ['past sprint']],
    ['per_page=1&page=2', ['yesterday']],
  ]
  for (const [query, expected] of cases)
    assert.deepEqual(titles(await get(`/groups/${group.id}/iterations?${query}`, as)), expected, query)
  const { body } = await get(`/groups/${group.id}/iterations`, as)
  assert.deepEqual(
    (body as { state: number }[]).map(({ state }) => state),
    [3, 3, 2, 1],
  )
  for (const [name, fault] of [
    ['state', 'does not have a valid value'],
    ['in', 'does not have a valid value'],
    ['include_ancestors', 'is invalid'],
    ['updated_before', 'is invalid'],
  ]) {
    const answer = await get(`/groups/${group.id}/iterations?${name}=sometime`, as)
    assert.deepEqual([answer.status, answer.body], [400, { error: `${name} ${fault}` }])
  }
})

test('iterations come by the day they end, then by title, then by age', async () => {
  const group = await world().make.group()
  const as = await world().make.memberOf('guest', { group })
  for (const title of ['x', 'y'])
    await world().opened.instance.db.transaction((tx) =>
      createCadence(tx, { ...NONE, group_id: group.id, title }),
    )
  await make(group, 'b', span(1, 3), 'x')
  await make(group, 'a', span(2, 3), 'y')
  await make(group, 'c', span(0, 0), 'y')
  assert.deepEqual(titles(await get(`/groups/${group.id}/iterations`, as)), ['c', 'a', 'b'])
})
const NONE = {
  automatic: false,
  roll_over: false,
  start_date: null,
  duration_in_weeks: null,
  iterations_in_advance: null,
}

test('a page costs two statements, for one iteration and for many', async () => {
  const group = await world().make.group()
  const as = await world().make.memberOf('guest', { group })
  const path = `/groups/${group.id}/iterations?per_page=100&include_descendants=true`
  const cost = async (): Promise<number> => {
    await world().make.sql('update personal_access_tokens set last_used_at = now()')
    return (await world().statements(() => get(path, as))).length
  }
  await make(group, 'one', span(0, 0))
  const few = await cost()
  for (let i = 1; i <= 30; i++) await make(group, `n${i}`, span(i, i))
  assert.deepEqual([few, await cost()], [2, 2])
})

test('iterations made by hand do not overlap in their cadence, and are counted by their dates', async () => {
  const group = await world().make.group()
  await make(group, 'late', span(10, 20))
  for (const dates of [span(20, 30), span(5, 10), span(12, 13), span(0, 40)])
    await assert.rejects(make(group, 'no', dates), IterationFault)
  await assert.rejects(make(group, 'no', span(9, 8)), IterationFault)
  await assert.rejects(make(group, 'no', span(1, 2), 'unknown'), /there is no cadence "unknown"/)
  assert.equal((await make(group, 'early', span(1, 9))).sequence, 1)
  const rows = await rowsOf(
    world(),
    'select title, iid, sequence from iterations where group_id = $1 order by iid',
    [group.id],
  )
  assert.deepEqual(rows, [
    { title: 'late', iid: 1, sequence: 2 },
    { title: 'early', iid: 2, sequence: 1 },
  ])
})

test('of many who make iterations of the same days at once one succeeds', async () => {
  const group = await world().make.group()
  const all = await Promise.allSettled(Array.from({ length: 20 }, () => make(group, 'rush', span(1, 2))))
  assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const one of all) if (one.status === 'rejected') assert.ok(one.reason instanceof IterationFault)
  const cadences = await rowsOf(world(), 'select id from iteration_cadences where group_id = $1', [group.id])
  assert.equal(cadences.length, 1)
})

interface Automatic {
  readonly group: Namespace
  readonly cadence: number
  readonly dates: () => Promise<unknown[]>
}
/** A cadence of one week, two in advance. */
async function automatic(start: number): Promise<Automatic> {
  const { db } = world().opened.instance
  const group = await world().make.group()
  const values = { automatic: true, roll_over: true, duration_in_weeks: 1, iterations_in_advance: 2 }
  const { id } = await db.transaction((tx) =>
    createCadence(tx, { ...values, group_id: group.id, title: 'weekly', start_date: day(start) }),
  )
  const dates = async (): Promise<unknown[]> =>
    (
      await rowsOf<Iteration>(world(), 'select * from iterations where group_id = $1 order by sequence', [
        group.id,
      ])
    ).map(({ title, start_date, due_date, iid }) => [title, start_date, due_date, iid])
  return { group, cadence: id, dates }
}
const run = (): Promise<void> => scheduleIterations.run(world().opened.instance, {})

test('an automatic cadence makes its iterations in advance, without titles, however often it is asked', async () => {
  const { group, dates } = await automatic(-3)
  await Promise.all([run(), run()])
  const expected = [
    [null, day(-3), day(3), 1],
    [null, day(4), day(10), 2],
    [null, day(11), day(17), 3],
  ]
  assert.deepEqual(await dates(), expected)
  await run()
  assert.deepEqual(await dates(), expected)
  const as = await world().make.memberOf('guest', { group })
  const { body } = await get(`/groups/${group.id}/iterations`, as)
  assert.deepEqual(
    (body as Record<string, unknown>[]).map((one) => [one['title'], one['description'], one['state']]),
    [2, 1, 1].map((state) => [null, null, state]),
  )
})

test('a worker does so every hour', async () => {
  const { opened } = world()
  const automated = await automatic(-3)
  const worker = startJobs(opened, pino({ level: 'silent' }))
  await enqueue(opened.instance.db, scheduleIterations, {})
  for (let turn = 0; turn < 400 && (await automated.dates()).length === 0; turn++) await sleep(10)
  await worker.stop()
  assert.equal((await automated.dates()).length, 3)
  const kept = await rowsOf<{ identifier: string }>(
    world(),
    'select identifier from graphile_worker._private_known_crontabs',
  )
  assert.ok(kept.some(({ identifier }) => identifier === 'schedule_iterations'))
})

test('an ended iteration rolls its open issues over to the current one, once', async () => {
  const { group, cadence } = await automatic(-10)
  await run()
  const all = await rowsOf<Iteration>(
    world(),
    'select * from iterations where group_id = $1 order by sequence',
    [group.id],
  )
  const [ended, current] = all
  assert.ok(ended && current)
  const project = await world().make.project({ group })
  const issue = (state: string, iid: number): Promise<{ id: number }> =>
    rowOf(
      world(),
      `insert into issues (iid, project_id, title, state, iteration_id) values ($1, $2, 'x', $3, $4) returning id`,
      [iid, project.id, state, ended.id],
    )
  const [open, closed] = [await issue('opened', 1), await issue('closed', 2)]
  const at = async ({ id }: { id: number }): Promise<unknown> =>
    (await rowOf<{ at: number }>(world(), 'select iteration_id as at from issues where id = $1', [id])).at
  // As it was the day before the iteration ended.
  await rowsOf(world(), `update iteration_cadences set rolled_over_on = $2 where id = $1`, [
    cadence,
    ended.due_date,
  ])
  await Promise.all([run(), run()])
  assert.deepEqual([await at(open), await at(closed)], [current.id, ended.id])
  const events = await rowsOf(world(), 'select issue_id, iteration_id, action from resource_iteration_events')
  assert.deepEqual(events, [{ issue_id: open.id, iteration_id: current.id, action: 'add' }])
  await rowsOf(world(), 'update issues set iteration_id = $2 where id = $1', [open.id, ended.id])
  await run()
  assert.equal(await at(open), ended.id, 'who puts an issue back means it')
})

test('an automatic cadence refuses manual iterations', async () => {
  const { group, cadence } = await automatic(0)
  await assert.rejects(make(group, 'no', span(100, 101), 'weekly'), IterationFault)
  await world().opened.instance.db.transaction((tx) => scheduleCadence(tx, cadence))
})
