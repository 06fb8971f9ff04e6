import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { makeIssue, makeMergeRequest, type Made } from '../../../test/support/noteables.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import { scheduleIterations } from '../../core/planning/iteration_schedule.ts'
import { createCadence, createIteration } from '../../core/planning/iterations.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import type { Iteration } from '../../db/schema/planning.ts'

let [planner, guest]: Someone[] = []
let group: Namespace
let project: Project
const world = sharedWorld(async ({ make }) => {
  group = await make.group({ visibility: 'private' })
  project = await make.project({ group, visibility: 'private' })
  planner = await make.memberOf('planner', { group })
  guest = await make.memberOf('guest', { group })
})
const DAY = 86_400_000
const day = (offset: number): string => new Date(Date.now() + offset * DAY).toISOString().slice(0, 10)
const make = (home: Namespace, title: string, from: number): Promise<Iteration> =>
  world().opened.instance.db.transaction((tx) =>
    createIteration(tx, home, { title, description: null, start_date: day(from), due_date: day(from + 6) }),
  )
const say = (about: Made, body: string, as = planner): Promise<Answered> =>
  world().call('POST', `${about.path}/notes`, { as, body: { body } })
const told = async (about: Made, body: string): Promise<unknown> => {
  const answer = await say(about, body)
  assert.equal(answer.status, 202, `${body}: ${answer.text}`)
  return answer.body
}
interface Shown {
  readonly iid: number
  readonly iteration: { readonly id: number; readonly title: string | null; readonly state: number } | null
}
const iterationOf = async (about: Made): Promise<Shown['iteration']> =>
  ((await world().get(about.path, planner)).body as Shown).iteration

test('an issue is put into an iteration by its id or its title, and out of it', async () => {
  const about = await makeIssue(world(), project)
  const [now, next] = [await make(group, 'Sprint 1', -1), await make(group, 'next-one', 20)]
  const set = ({ id }: Iteration): object => ({
    commands_changes: { iteration_id: id },
    summary: [`Set the iteration to *iteration:${id}.`],
  })
  assert.deepEqual(await told(about, `/iteration *iteration:${now.id}`), set(now))
  assert.deepEqual(await told(about, '/iteration *iteration:next-one'), set(next))
  assert.deepEqual(await told(about, '/iteration *iteration:"Sprint 1"'), set(now))
  const shown = await iterationOf(about)
  assert.deepEqual([shown?.id, shown?.title, shown?.state], [now.id, 'Sprint 1', 2])
  assert.deepEqual(await told(about, '/remove_iteration'), {
    commands_changes: { iteration_id: null },
    summary: [`Removed *iteration:${now.id} iteration.`],
  })
  assert.equal(await iterationOf(about), null)
  const notes = await world().get(`${about.path}/notes?sort=asc`, planner)
  assert.deepEqual(
    (notes.body as { body: string; system: boolean }[]).map(({ body, system }) => [body, system]),
    [
      ...[now, next, now].map(({ id }) => [`changed iteration to *iteration:${id}`, true]),
      ['removed iteration', true],
    ],
  )
  const events = await world().get(`${about.path}/resource_iteration_events`, planner)
  assert.deepEqual(
    (events.body as { action: string; iteration: { id: number }; user: { id: number } }[]).map((event) => [
      event.action,
      event.iteration.id,
      event.user.id,
    ]),
    [
      ['add', now.id, planner?.id],
      ['add', next.id, planner?.id],
      ['add', now.id, planner?.id],
      ['remove', now.id, planner?.id],
    ],
  )
})

test('an iteration that the project does not have is refused, and so is whoever does not plan', async () => {
  const elsewhere = await make(await world().make.group(), 'Elsewhere', 0)
  const about = await makeIssue(world(), project)
  const merge = await makeMergeRequest(world(), project)
  const here = await make(group, 'Here', 40)
  const developer = await world().make.memberOf('developer', { group })
  const before = await contents(world())
  const rows: [Made, string, Someone | undefined][] = [
    [about, `/iteration *iteration:${elsewhere.id}`, planner],
    [about, '/iteration *iteration:Elsewhere', planner],
    [about, '/iteration *iteration:9999999999999999999', planner],
    [about, '/iteration Here', planner],
    [about, '/iteration', planner],
    [about, '/remove_iteration', planner],
    [about, `/iteration *iteration:${here.id}`, guest],
    [merge, `/iteration *iteration:${here.id}`, developer],
  ]
  for (const [where, body, as] of rows) {
    const answer = await say(where, body, as)
    assert.equal(answer.status, 400, body)
    const told = /^400 Bad request - Failed to apply commands\. Could not apply \w+ command\./
    assert.match((answer.body as { message: string }).message, told, body)
  }
  assert.equal(await contents(world()), before)
})

test('current and next iterations are found without a name, of the only or the named cadence', async () => {
  const { db } = world().opened.instance
  const crew = await world().make.group({ visibility: 'private', name: 'Crew' })
  const about = await makeIssue(world(), await world().make.project({ group: crew, visibility: 'private' }))
  assert.ok(planner)
  await world().make.member(planner, 'planner', { group: crew })
  const failed = (argument: string): Promise<unknown> => told(about, `/estimate 1h\n/iteration ${argument}`)
  const because = (why = ''): object => ({
    commands_changes: { time_estimate: 3600 },
    summary: ['Set time estimate to 1h.', `Could not apply iteration command.${why}`],
  })
  assert.deepEqual(await failed('--current'), because())
  const late = await make(crew, 'late', 40)
  const [now, next] = [await make(crew, 'now', -1), await make(crew, 'next', 20)]
  const set = async (argument: string, { id }: Iteration): Promise<void> => {
    assert.deepEqual(
      await told(about, `/iteration ${argument}`),
      { commands_changes: { iteration_id: id }, summary: [`Set the iteration to *iteration:${id}.`] },
      argument,
    )
    assert.equal((await iterationOf(about))?.id, id)
  }
  await set('--current', now)
  await set('--next', next)
  const byHand = { automatic: false, roll_over: false, start_date: null }
  const free = { ...byHand, duration_in_weeks: null, iterations_in_advance: null, group_id: crew.id }
  await db.transaction((tx) => createCadence(tx, { ...free, title: 'team' }))
  await set('[cadence:"Crew iterations"] --current', now)
  await set(`[cadence:${late.iterations_cadence_id}] --next`, next)
  for (const [argument, why] of [
    ['--current', 'There are multiple cadences but no cadence is specified.'],
    ['', 'Missing option --current or --next.'],
    ['[cadence:team]', 'Missing option --current or --next.'],
    ['[cadence:team] --current', 'No current iteration found for the cadence.'],
    ['[cadence:team] --next', 'No upcoming iteration found for the cadence.'],
    ['[cadence:"Nobody’s"] --next', 'Failed to find the referenced iteration cadence.'],
    ['*iteration:nowhere', 'Failed to find the referenced iteration.'],
  ] as const)
    assert.deepEqual(await failed(argument), because(` ${why}`))
  assert.equal((await iterationOf(about))?.id, next.id)
})

test('issues are found by their iteration', async () => {
  const home = await world().make.project({ group, visibility: 'private' })
  const [first, second, third] = [
    await makeIssue(world(), home),
    await makeIssue(world(), home),
    await makeIssue(world(), home),
  ]
  const [a, b] = [await make(group, 'Alpha', 60), await make(group, 'Beta', 80)]
  await told(first, `/iteration *iteration:${a.id}`)
  await told(second, `/iteration *iteration:${b.id}`)
  for (const [query, expected] of [
    [`iteration_id=${a.id}`, [first.iid]],
    ['iteration_title=Beta', [second.iid]],
    ['iteration_id=Any', [second.iid, first.iid]],
    ['iteration_id=None', [third.iid]],
    [`not[iteration_id]=${a.id}`, [third.iid, second.iid]],
    ['iteration_title=Gamma', []],
  ] as const) {
    const { body } = await world().get(`/projects/${home.id}/issues?${query}`, planner)
    assert.deepEqual(
      (body as Shown[]).map(({ iid }) => iid),
      expected,
      query,
    )
  }
})

test('an open issue that a command put into an iteration goes on to the next when that has ended', async () => {
  const { db } = world().opened.instance
  const home = await world().make.group({ parent: group, visibility: 'private' })
  const issueHome = await world().make.project({ group: home, visibility: 'private' })
  const weekly = { automatic: true, roll_over: true, duration_in_weeks: 1, iterations_in_advance: 2 }
  await db.transaction((tx) =>
    createCadence(tx, { ...weekly, group_id: home.id, title: 'weekly', start_date: day(-10) }),
  )
  const run = (): Promise<void> => scheduleIterations.run(world().opened.instance, {})
  await run()
  const rows = await rowsOf<Iteration>(
    world(),
    'select * from iterations where group_id = $1 order by sequence',
    [home.id],
  )
  const [ended, current] = rows
  assert.ok(ended && current)
  const [open, done] = [await makeIssue(world(), issueHome), await makeIssue(world(), issueHome)]
  for (const issue of [open, done]) await told(issue, `/iteration *iteration:${ended.id}`)
  await told(done, '/close')
  await world().make.sql(`update iteration_cadences set rolled_over_on = '${ended.due_date}'`)
  await run()
  assert.deepEqual([(await iterationOf(open))?.id, (await iterationOf(done))?.id], [current.id, ended.id])
  const events = await world().get(`${open.path}/resource_iteration_events`, planner)
  assert.deepEqual(
    (events.body as { action: string; iteration: { id: number }; user: object | null }[]).map((event) => [
      event.action,
      event.iteration.id,
      event.user === null,
    ]),
    [
      ['add', ended.id, false],
      ['add', current.id, true],
    ],
  )
})

test('lists find what is in iterations of a title, and what is not', async () => {
  const place = await world().make.project({ group, visibility: 'private' })
  const [one, twin, other] = [
    await make(group, 'Harvest', 100),
    await make(await world().make.group({ parent: group }), 'Harvest', 0),
    await make(group, 'Sowing', 120),
  ]
  for (const iteration_id of [one.id, twin.id, other.id, null])
    await makeIssue(world(), place, { iteration_id })
  const iids = async (query: string): Promise<number[]> => {
    const answer = await world().get(`/projects/${place.id}/issues?sort=asc&${query}`, planner)
    assert.equal(answer.status, 200, answer.text)
    return (answer.body as Shown[]).map(({ iid }) => iid)
  }
  assert.deepEqual(await iids('iteration_title=Harvest'), [1, 2])
  assert.deepEqual(await iids('not[iteration_title]=Harvest'), [3, 4])
  assert.deepEqual(await iids('not[iteration_title]=Sowing&iteration_title=Harvest'), [1, 2])
  assert.deepEqual(await iids('not[iteration_title]=unheard'), [1, 2, 3, 4])
})
