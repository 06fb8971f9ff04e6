import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { digestOf } from '../src/access/tokens.ts'
import { nextCandidate } from '../src/ci/runners/queue.ts'
import { readConfig } from '../src/config.ts'
import type { Runner } from '../src/db/schema/ci.ts'
import { openInstance, type Opened } from '../src/open.ts'
import { createMakers } from '../test/support/makers.ts'
import { planConfiguration } from './ci_configuration.ts'
import { runJobs, startPipeline } from './ci_runners.ts'
import { median } from './report.ts'
import { startServer } from './server.ts'

// Pipelines: jobs from request to finish, the choice of the next job, and the planning of a large configuration.

const SMALL_COUNT = 100
const LARGE_COUNT = 100_000
const CHOICES = 300
const ROUNDS = 3

export interface CiLine {
  readonly name: string
  readonly found: string
  readonly wanted: string
  readonly met: boolean
}

type Env = Readonly<Record<string, string>>

async function inside<Result>(env: Env, work: (opened: Opened) => Promise<Result>): Promise<Result> {
  const opened = await openInstance(readConfig(env), { log: pino({ level: 'warn' }), join: true })
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}

const RUNNER_TOKEN = 'glrt-bench'

interface Filled {
  readonly project: number
  readonly token: string
  readonly runners: readonly Runner[]
}

/** A project, and runners of the instance and of the project that take jobs of every tag. */
async function fill({ instance, client }: Opened): Promise<Filled> {
  const make = createMakers(instance)
  const project = await make.project({ repository: 'empty' })
  const { token } = await make.memberOf('owner', { project })
  const { rows } = await client.pool.query<Runner>(
    `insert into ci_runners (runner_type, digest, tag_list)
     values ('instance_type', $1, '{a,b,c}'), ('project_type', $2, '{a,b,c}') returning *`,
    [digestOf(RUNNER_TOKEN), digestOf(`${RUNNER_TOKEN}-project`)],
  )
  await client.pool.query(
    "insert into ci_runner_projects (runner_id, project_id) select id, $1 from ci_runners where runner_type = 'project_type'",
    [project.id],
  )
  return { project: project.id, token, runners: rows }
}

const addJobs = async ({ client }: Opened, project: number, count: number): Promise<void> => {
  await client.pool.query(
    `with last as (
       insert into project_counters (project_id, counts, last) values ($1, 'pipelines', 1)
       on conflict (project_id, counts) do update set last = project_counters.last + 1 returning last),
     made as (
       insert into pipelines (iid, project_id, sha, ref, status)
       select last, $1, repeat('a', 40), 'main', 'pending' from last returning id),
     spec as (
       insert into ci_job_specs (pipeline_id, run_when, allow_failure, scheduling_type)
       select id, 'on_success', false, 'stage' from made returning id)
     insert into ci_jobs (project_id, pipeline_id, spec_id, kind, name, stage, stage_index, status, allow_failure,
                          tag_set_id, protected, queued_at)
     select $1, made.id, spec.id, 'build', 'job ' || n, 'test', 0, 'pending', false,
            (select id from ci_tag_sets order by id offset n % 8 limit 1), n % 2 = 0, now()
       from made, spec, generate_series(1, $2) n`,
    [project, count],
  )
  await client.pool.query('vacuum analyze ci_jobs')
}

/** Milliseconds that the choice of the next job takes. */
async function choose({ instance }: Opened, runner: Runner): Promise<number> {
  const times: number[] = []
  for (let at = 0; at < CHOICES; at += 1) {
    const start = performance.now()
    if ((await nextCandidate(instance.db, runner)) === undefined) throw new Error('no job is chosen')
    times.push(performance.now() - start)
  }
  return median(times)
}

async function compareChoices(opened: Opened, { project, runners }: Filled): Promise<CiLine[]> {
  const sets = ['{}', '{a}', '{b}', '{c}', '{a,b}', '{a,c}', '{b,c}', '{a,b,c}']
  await opened.client.pool.query(
    'insert into ci_tag_sets (tags) select unnest($1::text[])::text[] on conflict do nothing',
    [sets],
  )
  const measure = async (): Promise<number[]> => {
    const found: number[] = []
    for (const runner of runners) found.push(await choose(opened, runner))
    return found
  }
  await addJobs(opened, project, SMALL_COUNT)
  await measure()
  const few = await measure()
  await addJobs(opened, project, LARGE_COUNT - SMALL_COUNT)
  await measure()
  const many = await measure()
  return runners.map(({ runner_type }, at) => {
    const [one = 0, other = Infinity] = [few[at], many[at]]
    return {
      name: `the next of ${LARGE_COUNT} jobs for a runner of ${runner_type}`,
      found: `${other.toFixed(2)} ms, of ${SMALL_COUNT} ${one.toFixed(2)} ms: ${(other / one).toFixed(2)}`,
      wanted: '<= 3 times',
      met: other / one <= 3,
    }
  })
}

async function benchPlanning(): Promise<CiLine[]> {
  const { total, longest } = await planConfiguration()
  return [
    { name: 'planning of 1000 jobs', found: `${total.toFixed(1)} ms`, wanted: '< 200 ms', met: total < 200 },
    {
      name: 'its longest turn of the event loop',
      found: `${longest.toFixed(1)} ms`,
      wanted: '<= 20 ms',
      met: longest <= 20,
    },
  ]
}

async function benchRunners(url: string, { project, token }: Filled): Promise<CiLine[]> {
  const rounds = []
  const starts: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    starts.push(await startPipeline(url, { project, token }))
    rounds.push(await runJobs(url, RUNNER_TOKEN))
  }
  const perSecond = median(rounds.map((round) => round.perSecond))
  const p99 = median(rounds.map((round) => round.p99))
  const refused = rounds.reduce((sum, round) => sum + round.refused, 0)
  return [
    { name: 'POST pipeline of 500 jobs', found: `${median(starts).toFixed(0)} ms`, wanted: '', met: true },
    {
      name: 'request, trace and finish of 500 jobs',
      found: `${perSecond.toFixed(0)}/s, p99 ${p99.toFixed(1)} ms`,
      wanted: 'all answered',
      met: refused === 0,
    },
  ]
}

export async function benchCi(note: (text: string) => void): Promise<CiLine[]> {
  note('planning …')
  const lines = await benchPlanning()
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-ci-'))
  const env = {
    PATH: process.env['PATH'] ?? '',
    GUILDHALL_DATA_DIR: join(folder, 'data'),
    GUILDHALL_PORT: '0',
  }
  const server = await startServer(env)
  try {
    const filled = await inside(env, fill)
    note('jobs from request to finish …')
    lines.push(...(await benchRunners(server.url, filled)))
    note('choosing the next job …')
    lines.push(...(await inside(env, (opened) => compareChoices(opened, filled))))
    return lines
  } finally {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
}
