import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../access/tokens.ts'
import type { JobStatus, Runner } from '../db/schema/ci.ts'
import { makePipeline, makeRunner } from '../../test/support/ci_engine.ts'
import { dice } from '../../test/support/git_fixtures.ts'
import { plannedJob } from '../../test/support/planned_jobs.ts'
import { rowsOf } from '../../test/support/rows.ts'
import { sharedWorld } from '../../test/support/stand.ts'
import { findInconsistencies } from './check.ts'
import { finishJob, playJob, retryJob } from './jobs/actions.ts'
import { deletePipeline } from './pipeline_actions.ts'
import { startJob } from './runners/queue.ts'
import { setProcessMode, type ProcessMode } from './resource_assignment.ts'
import { isCompleted } from './status.ts'
import { cancelJobs, inTurn, type Turn } from './turn.ts'

const world = sharedWorld()

/** Steps of the random schedule; the bench and the nightly run ask for more. */
const STEPS = Number(process.env['TEST_STEPS'] ?? 400)
const MODES: readonly ProcessMode[] = ['unordered', 'oldest_first', 'newest_first']

interface Row extends Record<string, unknown> {
  readonly id: number
  readonly pipeline_id: number
  readonly group: number
  readonly mode: ProcessMode
  readonly status: JobStatus
}

/** Which job the published rule gives the resource to: an independent reading of it, over all rows. */
function nextByRule(rows: readonly Row[]): number | undefined {
  const mode = rows[0]?.mode ?? 'unordered'
  const waits = (row: Row): boolean => row.status === 'waiting_for_resource'
  if (mode === 'unordered') return rows.filter(waits).toSorted((a, b) => a.id - b.id)[0]?.id
  const upcoming = rows.filter((row) => ['created', 'scheduled', 'waiting_for_resource'].includes(row.status))
  const direction = mode === 'oldest_first' ? 1 : -1
  const [head] = upcoming.toSorted(
    (a, b) =>
      direction * (a.pipeline_id - b.pipeline_id) || Number(waits(b)) - Number(waits(a)) || a.id - b.id,
  )
  return head !== undefined && waits(head) ? head.id : undefined
}

const holds = ({ status }: Row): boolean => ['pending', 'running', 'canceling'].includes(status)

test('random schedules never run two jobs of a group, keep its order and leave nothing jammed', async () => {
  const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  const roll = dice(seed)
  const { make, opened } = world()
  const project = await make.project()
  const user = await make.memberOf('developer', { project })
  const runner = await makeRunner(world())
  const turn = <Result>(work: (turn: Turn) => Promise<Result>): Promise<Result> =>
    opened.client.transaction((tx) => inTurn(tx, project.id, work))
  const all = (): Promise<Row[]> =>
    rowsOf<Row>(
      world(),
      `select j.id, j.pipeline_id, j.status, g.id as "group", g.process_mode as mode
         from ci_jobs j join resource_groups g on g.id = j.resource_group_id where j.project_id = $1 order by j.id`,
      [project.id],
    )
  const pick = (rows: readonly Row[], ...states: JobStatus[]): Row | undefined => {
    const fit = rows.filter(({ status }) => states.includes(status))
    return fit[roll(fit.length)]
  }
  const context: Context = { turn, runner, user_id: user.id, roll }
  let note = ''
  for (let step = 0; step < STEPS; step += 1) {
    const before = await all()
    const action = roll(10)
    if (action === 0) {
      const jobs = Array.from({ length: 1 + roll(3) }, (_, at) => ({
        name: `job-${at}`,
        stage_index: at,
        when: roll(5) === 0 ? ('manual' as const) : ('on_success' as const),
        resource_group: `group/${roll(3)}`,
      }))
      await makePipeline(world(), project, jobs.map(plannedJob), { user_id: user.id })
    } else if (action === 1) {
      const mode = MODES[roll(MODES.length)] ?? 'unordered'
      const groups = [...new Set(before.map(({ group }) => group))]
      const group = groups[roll(groups.length)]
      if (group !== undefined) await turn((now) => setProcessMode(now, group, mode))
    } else await act(context, (...states) => pick(before, ...states))
    const rows = await all()
    note = `seed ${seed}, step ${step}`
    for (const group of new Set(rows.map((row) => row.group))) {
      const of = rows.filter((row) => row.group === group)
      const holding = of.filter(holds)
      assert.ok(holding.length <= 1, `${note}: two jobs of one group`)
      if (holding.length === 0)
        assert.equal(nextByRule(of), undefined, `${note}: a job waits for a free resource`)
      const given = holding.find(({ id }) => !before.some((row) => row.id === id && holds(row)))
      if (given !== undefined) checkGiven(of, given, note)
    }
  }
  assert.deepEqual(await findInconsistencies(opened.client), [], note)
  await drain(context, all)
  assert.deepEqual(
    (await all()).filter(({ status }) => !isCompleted(status) && status !== 'manual'),
    [],
    `seed ${seed}`,
  )
})

interface Context {
  readonly turn: <Result>(work: (turn: Turn) => Promise<Result>) => Promise<Result>
  readonly runner: Runner
  readonly user_id: number
  readonly roll: (bound: number) => number
}

/** The job that got the resource is the one that the rule names among those that waited with it. */
function checkGiven(rows: readonly Row[], given: Row, note: string): void {
  const before = rows.map((row) =>
    row.id === given.id ? { ...row, status: 'waiting_for_resource' as const } : row,
  )
  assert.equal(nextByRule(before), given.id, `${note}: the order of ${given.mode}`)
}

async function act(
  { turn, runner, user_id, roll }: Context,
  pick: (...states: JobStatus[]) => Row | undefined,
): Promise<void> {
  const [pending, running, manual, over] = [
    pick('pending'),
    pick('running', 'canceling'),
    pick('manual'),
    pick('success', 'failed', 'canceled'),
  ]
  const any = pick('created', 'waiting_for_resource', 'pending', 'running', 'manual')
  const kind = roll(20)
  if (kind < 7 && pending !== undefined)
    await turn((now) =>
      startJob(now, pending.id, {
        runner,
        manager_id: null,
        token_digest: digestOf(`model ${pending.id}`),
        cancels_gracefully: roll(2) === 0,
      }),
    )
  else if (kind < 14 && running !== undefined)
    await turn((now) => finishJob(now, running.id, { status: roll(3) === 0 ? 'failed' : 'success' }))
  else if (kind < 16 && manual !== undefined)
    await turn((now) => playJob(now, manual.id, { user_id, variables: null }))
  else if (kind < 17 && over !== undefined) await turn((now) => retryJob(now, over.id, user_id))
  else if (kind < 19 && any !== undefined) await turn((now) => cancelJobs(now, [any.id]))
  else if (any !== undefined) await turn((now) => deletePipeline(now, any.pipeline_id))
}

/** Ends every job that can be: what is left waits for people. */
async function drain(context: Context, all: () => Promise<Row[]>): Promise<void> {
  for (;;) {
    const rows = await all()
    const next = rows.find(holds)
    if (next === undefined) {
      // An ordered group waits for its head, which may stand behind a manual job.
      const manual = rows.find(({ status }) => status === 'manual')
      if (manual === undefined) return
      await context.turn((now) => cancelJobs(now, [manual.id]))
    } else
      await act({ ...context, roll: () => 0 }, (...states) =>
        rows.find(({ status }) => states.includes(status)),
      )
    if (next?.status === 'running' || next?.status === 'canceling')
      await context.turn((now) => finishJob(now, next.id, { status: 'success' }))
  }
}
