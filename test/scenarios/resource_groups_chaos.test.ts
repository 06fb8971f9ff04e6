/* Runners and the server are killed at random while 200 jobs run over 20 resource groups, in every process mode. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { dice } from '../support/git_fixtures.ts'
import { openYard, type Yard } from '../support/pipelines_by_runner.ts'
import { killGroup, killServer, type Running, type Started } from '../support/program.ts'

/** Seconds of kills; `TEST_CHAOS` asks for more by hand. */
const CHAOS = Number(process.env['TEST_CHAOS'] ?? 5)
const SEED = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
const GROUPS = 20
const PIPELINES = 10
const RUNNERS = 3
const MODES = ['unordered', 'oldest_first', 'newest_first'] as const
/** Seconds without a word after which a runner has lost its job, the least that can be set. */
const LEASE = 10
/** Milliseconds that the jobs may take once nothing is killed any more. */
const PATIENCE = 240_000

const roll = dice(SEED)
/** Seconds that a job runs: a group is busy for most of the time that something is killed. */
const runTime = (): string => (((0.5 + roll(100) / 100) * CHAOS) / PIPELINES / 2).toFixed(2)

const modeOf = (group: number): string => MODES[group % MODES.length] ?? 'unordered'
const keyOf = (group: number): string => `deploy/group.${group}`
const CONFIGURATION = [
  'variables: { GIT_STRATEGY: none }',
  'default: { retry: 2 }',
  ...Array.from(
    { length: GROUPS },
    (_, group) => `job-${group}: { resource_group: ${keyOf(group)}, script: [sleep ${runTime()}] }`,
  ),
].join('\n')

let yard: Yard
let server: Running
before(async () => {
  yard = await openYard({ GUILDHALL_RUNNER_TIMEOUT: String(LEASE) })
  server = yard.server
})
after(() => yard.clear())

interface Row {
  readonly id: number
  readonly pipeline_id: number
  readonly name: string
  readonly status: string
  readonly retried: boolean
  readonly key: string
  readonly mode: (typeof MODES)[number]
  /** Seconds: of the insertion, and of the time that the job held the resource. */
  readonly made: number
  readonly given: number | null
  readonly freed: number | null
}

async function query<Result extends pg.QueryResultRow>(
  text: string,
  values: unknown[] = [],
): Promise<Result[]> {
  const client = new pg.Client({
    host: join(yard.place.dataDir, 'postgres'),
    port: 5432,
    user: 'guildhall',
    database: 'guildhall',
  })
  await client.connect()
  try {
    return (await client.query<Result>(text, values)).rows
  } finally {
    await client.end()
  }
}

// A retried job is inserted right after the one before it ended: `created_at` is when its transaction began to wait.
const allJobs = (): Promise<Row[]> =>
  query<Row & pg.QueryResultRow>(
    `select j.id::int, j.pipeline_id::int, j.name, j.status, j.retried, g.key, g.process_mode as mode,
            extract(epoch from coalesce(
              lag(j.finished_at) over (partition by j.pipeline_id, j.name order by j.id), j.created_at))::float8 as made,
            extract(epoch from j.queued_at)::float8 as given, extract(epoch from j.finished_at)::float8 as freed
       from ci_jobs j join resource_groups g on g.id = j.resource_group_id order by j.id`,
  )

/** Pushes the configuration, and asks for the other pipelines when the modes of its groups are set. */
async function makePipelines(): Promise<void> {
  const { api, project } = yard
  await yard.push({ '.gitlab-ci.yml': CONFIGURATION }, 'chaos')
  for (let group = 0; group < GROUPS; group += 1)
    await api.ResourceGroups.edit(project, keyOf(group), { processMode: modeOf(group) })
  // Only then is the order of all of them decided by the modes.
  for (let at = 1; at < PIPELINES; at += 1) await api.Pipelines.create(project, 'chaos')
}

const startRunner = (): Started => yard.startRunner(['--concurrent', '5'])

interface Kills {
  runner: number
  server: number
}
/** Kills for a while; what it kills is started again. */
async function killAtRandom(runners: Started[]): Promise<Kills> {
  const kills = { runner: 0, server: 0 }
  for (const end = performance.now() + CHAOS * 1_000; performance.now() < end;) {
    await sleep(roll(1_500))
    const isFirst = kills.runner === 0
    if (!isFirst && (kills.server === 0 || roll(4) === 0)) {
      await killServer(yard.place, server)
      server = await yard.place.serve()
      kills.server += 1
    } else {
      const victim = roll(RUNNERS)
      const runner = runners[victim]
      if (runner !== undefined) killGroup(runner.pid)
      await runner?.ended
      runners[victim] = startRunner()
      kills.runner += 1
    }
  }
  return kills
}

const isOver = ({ status }: Row): boolean => ['success', 'failed', 'canceled'].includes(status)

async function untilOver(): Promise<Row[]> {
  for (const end = performance.now() + PATIENCE; ; await sleep(250)) {
    const rows = await allJobs()
    const open = rows.filter((row) => !isOver(row))
    if (open.length === 0) return rows
    assert.ok(
      performance.now() < end,
      `${open.length} jobs are stuck: ${JSON.stringify(open.slice(0, 5))}, seed ${SEED}`,
    )
  }
}

/** The order in which the mode gives its resource to jobs that wait at one time. */
const ORDERS: Readonly<Record<Row['mode'], (a: Row, b: Row) => number>> = {
  unordered: (a, b) => a.id - b.id,
  oldest_first: (a, b) => a.pipeline_id - b.pipeline_id || a.id - b.id,
  newest_first: (a, b) => b.pipeline_id - a.pipeline_id || a.id - b.id,
}

/** Checks that one job after the other held the group's resource, each the one that the mode names. */
function checkGroup(rows: readonly Row[], about: string): void {
  const given = rows.filter((row) => row.given !== null).toSorted((a, b) => (a.given ?? 0) - (b.given ?? 0))
  assert.equal(given.length, rows.length, `${about}: every job had the resource`)
  for (const [at, row] of given.entries()) {
    const when = row.given ?? 0
    const before = given[at - 1]
    if (before !== undefined)
      assert.ok((before.freed ?? Infinity) <= when, `${about}: ${before.id} and ${row.id} at once`)
    const waiting = given.slice(at).filter(({ made }) => made < when)
    assert.equal(waiting.toSorted(ORDERS[row.mode])[0]?.id, row.id, `${about}: the order of ${row.mode}`)
  }
}

test('no kill jams a resource group, runs two jobs of one at once or changes their order', async (t) => {
  const began = performance.now()
  await makePipelines()
  const runners = Array.from({ length: RUNNERS }, startRunner)
  const kills = await killAtRandom(runners)
  const rows = await untilOver()
  assert.equal(rows.filter(({ retried }) => !retried).length, GROUPS * PIPELINES)
  for (let group = 0; group < GROUPS; group += 1) {
    const of = rows.filter(({ key }) => key === keyOf(group))
    checkGroup(of, `${keyOf(group)}, seed ${SEED}`)
  }
  for (const { pid } of runners) killGroup(pid)
  const { inconsistencies } = await yard.place.json(['ci', 'check'])
  assert.equal(inconsistencies, 0)
  const count = (status: string): number => rows.filter((row) => !row.retried && row.status === status).length
  t.diagnostic(
    `seed ${SEED}: ${kills.runner} runners and ${kills.server} servers killed in ${CHAOS} s; of ${GROUPS * PIPELINES} ` +
      `jobs ${count('success')} succeeded and ${count('failed')} failed, after ${rows.length - GROUPS * PIPELINES} ` +
      `lost runs; ${Math.round((performance.now() - began) / 1_000)} s`,
  )
})
