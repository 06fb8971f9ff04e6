import type { JobStatus } from '../db/schema/ci.ts'
import { StatusSet, type Status } from './status.ts'

// Which jobs of a pipeline start now, as a function of their states: no database, no clock.

export type When = 'on_success' | 'on_failure' | 'always' | 'manual' | 'delayed'

export interface ProcessedJob {
  readonly id: number
  readonly name: string
  readonly stage_index: number
  readonly status: JobStatus
  readonly allow_failure: boolean
  readonly run_when: When
  readonly scheduling_type: 'stage' | 'dag'
  readonly needs: readonly string[]
  readonly has_resource_group: boolean
}

/** A job and the state that it enters. */
export interface Step {
  readonly id: number
  readonly to: 'skipped' | 'manual' | 'scheduled' | 'waiting_for_resource' | 'pending'
}

/**
 * Decides every `created` job whose previous jobs are done. `jobs` are the latest ones of a pipeline; the answer is in the
 * order in which jobs enter their states, and nothing more would be decided if it were applied and asked again.
 */
export function processJobs(jobs: readonly ProcessedJob[]): Step[] {
  const byName = new Map(jobs.map((job) => [job.name, job]))
  const states = new Map<string, JobStatus>(jobs.map((job) => [job.name, job.status]))
  const member = (job: ProcessedJob): { status: JobStatus; allow_failure: boolean } => ({
    status: states.get(job.name) ?? job.status,
    allow_failure: job.allow_failure,
  })
  const before = new StatusSet()
  const steps: Step[] = []
  for (const stage of inStages(jobs)) {
    const previous = before.composite() ?? 'success'
    for (const job of sortedByNeeds(stage)) {
      if (job.status === 'created') {
        const needed = job.needs.flatMap((name) => byName.get(name) ?? [])
        const state =
          job.scheduling_type === 'dag'
            ? (new StatusSet(needed.map(member)).composite(true) ?? 'success')
            : previous
        const to = decide(job, state)
        if (to !== undefined) {
          steps.push({ id: job.id, to })
          states.set(job.name, to)
        }
      }
    }
    for (const job of stage) before.add(member(job))
  }
  return steps
}

function inStages(jobs: readonly ProcessedJob[]): ProcessedJob[][] {
  const stages = new Map<number, ProcessedJob[]>()
  for (const job of jobs) {
    const stage = stages.get(job.stage_index)
    if (stage === undefined) stages.set(job.stage_index, [job])
    else stage.push(job)
  }
  return [...stages].toSorted(([a], [b]) => a - b).map(([, stage]) => stage)
}

/** Jobs of one stage, each after those of the stage that it needs. Needs hold no cycle: creation refuses one. */
export function sortedByNeeds<Job extends Pick<ProcessedJob, 'name' | 'needs'>>(
  stage: readonly Job[],
): Job[] {
  const names = new Map(stage.map((job) => [job.name, job]))
  const sorted = new Set<Job>()
  const open: Job[] = stage.toReversed()
  const entered = new Set<Job>()
  for (let job = open.pop(); job !== undefined; job = open.pop()) {
    if (sorted.has(job)) continue
    const missing = job.needs.flatMap((name) => names.get(name) ?? []).filter((need) => !sorted.has(need))
    if (missing.length === 0 || entered.has(job)) sorted.add(job)
    else {
      entered.add(job)
      open.push(job, ...missing)
    }
  }
  return [...sorted]
}

const STARTS: Readonly<Record<When, readonly Status[]>> = {
  on_success: ['success', 'skipped'],
  manual: ['success', 'skipped'],
  delayed: ['success', 'skipped'],
  on_failure: ['failed'],
  always: ['success', 'failed', 'skipped'],
}

/** The state that a created job enters; undefined while its previous jobs are not done. */
function decide(job: ProcessedJob, previous: Status): Step['to'] | undefined {
  if (!['success', 'failed', 'canceled', 'skipped'].includes(previous)) return undefined
  const skipsAfterSkipped =
    job.scheduling_type === 'dag' && previous === 'skipped' && job.run_when !== 'always'
  if (skipsAfterSkipped || !STARTS[job.run_when].includes(previous)) return 'skipped'
  if (job.run_when === 'manual') return 'manual'
  if (job.run_when === 'delayed') return 'scheduled'
  return enqueued(job)
}

/** The state of a job that starts: it waits for its group's resource, or for a runner. */
export const enqueued = (job: {
  readonly has_resource_group: boolean
}): 'waiting_for_resource' | 'pending' => (job.has_resource_group ? 'waiting_for_resource' : 'pending')

/** Names of skipped jobs that get another chance when `name` is started anew: those after it, by stage or by need. */
export function revivedBy(jobs: readonly ProcessedJob[], name: string): string[] {
  const start = jobs.find((job) => job.name === name)
  if (start === undefined) return []
  const revived = new Set<string>()
  for (const stage of inStages(jobs))
    for (const job of sortedByNeeds(stage)) {
      if (job.status !== 'skipped' || job.name === name) continue
      const follows =
        job.scheduling_type === 'dag'
          ? job.needs.some((need) => need === name || revived.has(need))
          : job.stage_index > start.stage_index
      if (follows) revived.add(job.name)
    }
  return [...revived]
}
