import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { writeConfig } from '../../../test/support/config_commit.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { makeSchedule, queuedJobs, type MadeSchedule } from '../../../test/support/schedule_makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Project } from '../../db/schema/tables.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import { nextRun, playSchedule, resumeSchedules, runSchedule } from './schedules.ts'
import { openVariables } from './sealed_variables.ts'

const world = sharedWorld()
let project: Project
let owner: Someone
let sha: string
before(async () => {
  const { make } = world()
  project = await make.project({ repository: 'empty' })
  owner = await make.memberOf('developer', { project })
  sha = writeConfig(
    world(),
    project,
    'nightly: { script: make, rules: [{ if: $CI_PIPELINE_SOURCE == "schedule" }] }\n',
  )
})

const run = ({ id }: { readonly id: number }): Promise<void> =>
  runSchedule.run(world().opened.instance, { id })
type Row = Pipeline & Record<string, unknown>
const made = ({ id }: { readonly id: number }): Promise<Row[]> =>
  rowsOf<Row>(world(), 'select * from pipelines where schedule_id = $1 order by id', [id])
const stateOf = ({ id }: { readonly id: number }): Promise<MadeSchedule> =>
  rowOf(world(), 'select * from pipeline_schedules where id = $1', [id])
const ROUND = 5

test('a run happens at the time of the cron, and not sooner than ten minutes after the last one was due', () => {
  const timed = (cron: string, cron_timezone = 'UTC'): { cron: string; cron_timezone: string } => ({
    cron,
    cron_timezone,
  })
  const at = (time: string): Date => new Date(`2026-${time}:00Z`)
  const rows = [
    [timed('0 2 * * *'), at('05-01T02:00'), at('05-01T02:00'), at('05-02T02:00')],
    [timed('* * * * *'), at('05-01T02:00'), at('05-01T02:00'), at('05-01T02:10')],
    [timed('0,5 * * * *'), at('05-01T02:00'), at('05-01T02:00'), at('05-01T02:10')],
    [timed('0,5 * * * *'), at('05-01T02:10'), at('05-01T02:10'), at('05-01T03:00')],
    // Missed for three days: the next time is the next one of the cron.
    [timed('* * * * *'), at('05-04T02:00'), at('05-01T02:00'), at('05-04T02:01')],
    [timed('30 2 * * *', 'Berlin'), at('03-29T00:00'), at('03-28T01:30'), at('03-29T01:00')],
    [timed('0 0 30-31 2 *'), at('05-01T02:00'), at('05-01T02:00'), null],
  ] as const
  for (const [cron, now, due, expected] of rows)
    assert.deepEqual(nextRun(cron, now, due), expected, cron.cron)
})

test('a schedule that is due makes one pipeline as its owner, with its variables, and asks for the next run', async () => {
  const schedule = await makeSchedule(world(), project, { owner_id: owner.id })
  const { vault } = world().opened.instance
  await rowsOf(
    world(),
    `insert into pipeline_schedule_variables (schedule_id, key, sealed_value, variable_type) values ($1, 'FILE', $2, 'file')`,
    [schedule.id, vault.seal('text')],
  )
  await run(schedule)
  await run(schedule)
  const [pipeline, ...more] = await made(schedule)
  assert.ok(pipeline && more.length === 0)
  assert.deepEqual(
    [pipeline.sha, pipeline.source, pipeline.ref, pipeline.user_id, pipeline.status],
    [sha, 'schedule', 'ci', owner.id, 'pending'],
  )
  assert.deepEqual(openVariables(vault, pipeline.variables), [{ key: 'FILE', value: 'text', file: true }])
  const { next_run_at, active } = await stateOf(schedule)
  assert.ok(active && next_run_at !== null && next_run_at > new Date())
  const queued = (await queuedJobs(world(), runSchedule.name)).filter(
    ({ payload }) => payload.id === schedule.id,
  )
  assert.deepEqual(queued, [
    { payload: { id: schedule.id }, key: `pipeline_schedule:${schedule.id}`, run_at: next_run_at },
  ])
})

test('several workers run a due schedule once; a time missed for days is made up for once', async () => {
  for (let round = 0; round < ROUND; round += 1) {
    const next_run_at = new Date(Date.now() - 3 * 86_400_000)
    const schedule = await makeSchedule(world(), project, {
      owner_id: owner.id,
      cron: '* * * * *',
      next_run_at,
    })
    await Promise.all(Array.from({ length: 6 }, () => run(schedule)))
    assert.equal((await made(schedule)).length, 1)
  }
})

test('a run that fails before it commits leaves the schedule due', async () => {
  const schedule = await makeSchedule(world(), project, { owner_id: owner.id })
  const { instance } = world().opened
  const vault = {
    ...instance.vault,
    open: (): string => {
      throw new Error('no secret')
    },
  }
  await rowsOf(
    world(),
    `insert into pipeline_schedule_variables (schedule_id, key, sealed_value) values ($1, 'A', 'x')`,
    [schedule.id],
  )
  await assert.rejects(runSchedule.run({ ...instance, vault }, { id: schedule.id }), /no secret/)
  assert.deepEqual((await stateOf(schedule)).next_run_at, schedule.next_run_at)
  await rowsOf(world(), 'delete from pipeline_schedule_variables where schedule_id = $1', [schedule.id])
  await run(schedule)
  assert.equal((await made(schedule)).length, 1)
})

test('an inactive schedule and one that is not due do not run', async () => {
  const later = await makeSchedule(world(), project, {
    owner_id: owner.id,
    next_run_at: new Date(Date.now() + 60_000),
  })
  const off = await makeSchedule(world(), project, { owner_id: owner.id })
  await rowsOf(world(), 'update pipeline_schedules set active = false where id = $1', [off.id])
  for (const schedule of [later, off]) {
    await run(schedule)
    assert.deepEqual(await made(schedule), [])
    assert.deepEqual((await stateOf(schedule)).next_run_at, schedule.next_run_at)
  }
})

test('the schedule of an owner who is blocked, gone or no member any more becomes inactive', async () => {
  const { make } = world()
  const blocked = await make.memberOf('maintainer', { project })
  await make.sql(`update users set state = 'blocked' where id = ${blocked.id}`)
  const removed = await make.user()
  for (const owner_id of [blocked.id, removed.id, null]) {
    const schedule = await makeSchedule(world(), project, { owner_id })
    await run(schedule)
    assert.deepEqual([(await stateOf(schedule)).active, await made(schedule)], [false, []])
  }
})

test('an owner without the rights of now makes no pipeline, and the schedule goes on', async () => {
  const { make } = world()
  const reporter = await make.memberOf('reporter', { project })
  await make.sql(`
    with b as (insert into protected_branches (project_id, name) values (${project.id}, 'kept') returning id)
    insert into protected_branch_levels (protected_branch_id, action, access_level)
    select id, unnest(array['push', 'merge']), 40 from b`)
  writeConfig(world(), project, 'nightly: { script: make }\n', 'kept')
  writeConfig(world(), project, 'nightly: { script: [1\n', 'wrong')
  const cases = [
    [reporter.id, 'refs/heads/ci'],
    [owner.id, 'refs/heads/kept'],
    [owner.id, 'refs/heads/wrong'],
    [owner.id, 'refs/heads/gone'],
  ] as const
  for (const [owner_id, ref] of cases) {
    const schedule = await makeSchedule(world(), project, { owner_id, ref })
    await run(schedule)
    const { active, next_run_at } = await stateOf(schedule)
    assert.ok(active && next_run_at !== null && next_run_at > new Date(), ref)
    assert.deepEqual(await made(schedule), [], ref)
  }
})

test('a played schedule runs as the caller, once for each time, and its next run stays', async () => {
  const { make, opened } = world()
  const caller = await make.memberOf('developer', { project })
  const schedule = await makeSchedule(world(), project, { owner_id: owner.id })
  const done = new Set<string>()
  const once = async (_tx: unknown, step: string): Promise<boolean> =>
    !done.has(step) && done.add(step).size > 0
  const play = (): Promise<void> =>
    playSchedule.run(opened.instance, { id: schedule.id, user_id: caller.id }, once)
  await play()
  await play()
  assert.deepEqual(
    (await made(schedule)).map(({ user_id, source }) => [user_id, source]),
    [[caller.id, 'schedule']],
  )
  assert.deepEqual(await stateOf(schedule), schedule)
  await rowsOf(world(), 'delete from pipeline_schedules where id = $1', [schedule.id])
  done.clear()
  await play()
})

test('each hour asks again for runs that are long overdue', async () => {
  await rowsOf(world(), 'delete from pipeline_schedules')
  const old = await makeSchedule(world(), project, {
    owner_id: owner.id,
    next_run_at: new Date(Date.now() - 3_600_000),
  })
  const fresh = await makeSchedule(world(), project, { owner_id: owner.id })
  await resumeSchedules.run(world().opened.instance, {})
  const ids = (await queuedJobs(world(), runSchedule.name)).map(({ payload }) => payload.id)
  assert.deepEqual([ids.includes(old.id), ids.includes(fresh.id)], [true, false])
})
