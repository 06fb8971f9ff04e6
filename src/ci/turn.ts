import { sql } from 'kysely'
import { wakeAutoMerges } from '../core/merge_requests/auto_merges.ts'
import { askForSecurityReports } from '../core/delivery/security_reports.ts'
import type { Db } from '../db/db.ts'
import type { JobStatus } from '../db/schema/ci.ts'
import { statement, type Slots } from '../db/statement.ts'
import { recordEvents, type OutboxEvent } from '../outbox/record.ts'
import { askForDownstream, followDownstream } from './downstream/mirroring.ts'
import { followJobs } from './environments/deployments.ts'
import { enterState, latestJobs, pipelineMembers, type Entered } from './jobs/store.ts'
import { cancelsOnFailure, setPipelineStatus, type Moved } from './pipeline_store.ts'
import { processJobs } from './processing.ts'
import { nextOfGroup } from './resource_assignment.ts'
import { CANCELABLE, isCompleted, pipelineStatus } from './status.ts'

const lock = statement(
  (p: Slots<{ key: string }>) => sql`select pg_advisory_xact_lock(hashtextextended(${p.key}, 0))`,
)
const announce = statement(() => sql`select pg_notify('ci_queue', '')`)

interface Cause {
  readonly reason?: string
  readonly exit_code?: number | null
}

/**
 * One transaction's changes to the pipelines of a project. Jobs change state through it only; when the work is done it
 * starts what can start now, gives free resources to the jobs that wait for them and brings the pipelines' status up to
 * date. So nothing is ever left to a later step that a crash could lose.
 */
export class Turn {
  readonly db: Db
  readonly projectId: number
  /** Every change of state so far, in order. */
  readonly entered: Entered[] = []
  readonly #pipelines = new Set<number>()
  readonly #restated = new Set<number>()
  readonly #groups = new Set<number>()

  constructor(db: Db, projectId: number) {
    this.db = db
    this.projectId = projectId
  }

  /** Jobs that are in one of the states `from` enter `to`; answers those that did. */
  async enter(
    ids: readonly number[],
    from: readonly JobStatus[],
    to: JobStatus,
    { reason, exit_code }: Cause = {},
  ): Promise<Entered[]> {
    if (ids.length === 0) return []
    const entry = { ids, from, reason: reason ?? null, exit_code: exit_code ?? null }
    const entered = await enterState(this.db, to, entry)
    for (const job of entered) {
      this.entered.push(job)
      // A job that a runner took decides nothing about other jobs: they are not read.
      if (to === 'running') this.#restated.add(job.pipeline_id)
      else this.#pipelines.add(job.pipeline_id)
      if (job.resource_group_id !== null) this.#groups.add(job.resource_group_id)
    }
    const deploying = entered.filter((job) => job.environment_id !== null)
    if (deploying.length > 0)
      await followJobs(
        this.db,
        deploying.map((job) => job.id),
        to,
      )
    return entered
  }

  /** The pipeline's jobs are processed, and its status is computed, when the turn ends. */
  touchPipeline(id: number): void {
    this.#pipelines.add(id)
  }

  /** The group's resource is assigned, where it is free, when the turn ends. */
  touchGroup(id: number): void {
    this.#groups.add(id)
  }

  async settle(): Promise<readonly Moved[]> {
    const moved = new Map<number, Moved>()
    while (this.#pipelines.size + this.#groups.size + this.#restated.size > 0) {
      await this.#process()
      const restated = await this.#restate()
      for (const pipeline of restated) moved.set(pipeline.id, pipeline)
      // The bridge of a child pipeline decides about jobs of its parent.
      const triggered = restated.filter(({ source_job_id }) => source_job_id !== null)
      await followDownstream(
        this,
        triggered.map(({ id }) => id),
      )
    }
    const pending = this.entered.filter(({ status }) => status === 'pending')
    if (pending.some(({ kind }) => kind === 'build')) await this.db.run(announce, {})
    const bridges = pending.filter(({ kind }) => kind === 'bridge').map(({ id }) => id)
    await askForDownstream(this.db, this.projectId, bridges)
    return [...moved.values()]
  }

  async #process(): Promise<void> {
    while (this.#pipelines.size + this.#groups.size > 0) {
      for (const id of taken(this.#pipelines)) await this.#advance(id)
      // Only when every pipeline is processed are all jobs known that wait.
      if (this.#pipelines.size === 0) for (const id of taken(this.#groups)) await this.#assign(id)
    }
  }

  async #advance(id: number): Promise<void> {
    this.#restated.add(id)
    const failed = this.entered.filter((job) => job.pipeline_id === id && job.status === 'failed')
    if (failed.some((job) => !job.allow_failure) && (await cancelsOnFailure(this.db, id))) {
      const jobs = await latestJobs(this.db, id)
      await cancelJobs(
        this,
        jobs.map((job) => job.id),
      )
    }
    const steps = processJobs(await latestJobs(this.db, id))
    for (const to of new Set(steps.map((step) => step.to))) {
      const ids = steps.filter((step) => step.to === to).map((step) => step.id)
      await this.enter(ids, ['created'], to)
    }
    // All that these steps lead to is among them.
    this.#pipelines.delete(id)
  }

  async #assign(groupId: number): Promise<void> {
    const id = await nextOfGroup(this.db, groupId)
    if (id === undefined) return
    const entered = await this.enter([id], ['waiting_for_resource'], 'pending')
    for (const { pipeline_id } of entered) {
      // A job that gets the resource decides nothing about other jobs.
      this.#pipelines.delete(pipeline_id)
      this.#restated.add(pipeline_id)
    }
    this.#groups.delete(groupId)
  }

  async #restate(): Promise<Moved[]> {
    const ids = taken(this.#restated)
    if (ids.length === 0) return []
    const members = await pipelineMembers(this.db, ids)
    const moved: Moved[] = []
    for (const id of ids) {
      const status = pipelineStatus(members.filter((member) => member.pipeline_id === id))
      const row = status && (await setPipelineStatus(this.db, id, status))
      if (row !== undefined) moved.push(row)
    }
    return moved
  }
}

function taken(set: Set<number>): number[] {
  const all = [...set]
  set.clear()
  return all
}

/** Cancels what can be canceled of these jobs: running ones gracefully where their runner can. */
export async function cancelJobs(turn: Turn, ids: readonly number[]): Promise<Entered[]> {
  const graceful = await gracefulJobs(turn.db, ids)
  const canceling = await turn.enter(graceful, ['running'], 'canceling')
  return [...canceling, ...(await turn.enter(ids, CANCELABLE, 'canceled'))]
}

const graceful = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<{ id: number }>`
    select id from ci_jobs where id = any(${p.ids}::bigint[]) and status = 'running' and cancels_gracefully`,
)
const gracefulJobs = async (db: Db, ids: readonly number[]): Promise<number[]> =>
  (await db.rows(graceful, { ids })).map(({ id }) => id)

/** Lets one transaction after the other change the pipelines of a project. Before any row of them is locked. */
const lockProject = async (db: Db, projectId: number): Promise<void> =>
  void (await db.rows(lock, { key: `ci ${projectId}` }))

/** Keeps the pipelines of several projects as they are until the transaction ends. */
export async function holdPipelines(db: Db, projectIds: readonly number[]): Promise<void> {
  for (const id of [...new Set(projectIds)].toSorted((a, b) => a - b)) await lockProject(db, id)
}

/**
 * Runs `work` as a turn of the project, inside the transaction `db`, which the project's other turns wait for. It takes
 * this lock before any other: pipelines and resource groups of a project are never locked against each other.
 */
export async function inTurn<Result>(
  db: Db,
  projectId: number,
  work: (turn: Turn) => Promise<Result>,
): Promise<Result> {
  await lockProject(db, projectId)
  const turn = new Turn(db, projectId)
  const result = await work(turn)
  const moved = await turn.settle()
  await recordTurn(turn, moved)
  await followUp(turn, moved)
  return result
}

/** Records each state that a job or a pipeline entered. */
async function recordTurn({ db, projectId, entered }: Turn, moved: readonly Moved[]): Promise<void> {
  const of = { author_id: null, project_id: projectId } as const
  await recordEvents(db, [
    ...entered
      .filter(({ kind }) => kind === 'build')
      .map(({ id, status }): OutboxEvent => ({
        ...of,
        kind: 'job',
        action: status,
        target_type: 'job',
        target_id: id,
        trigger: 'job_events',
      })),
    ...moved.map(({ id, status }): OutboxEvent => ({
      ...of,
      kind: 'pipeline',
      action: status,
      target_type: 'pipeline',
      target_id: id,
      trigger: 'pipeline_events',
    })),
  ])
}

/** Effects of a pipeline's status outside of its project. */
async function followUp({ db }: Turn, moved: readonly Moved[]): Promise<void> {
  await askForSecurityReports(db, moved)
  const over = moved.filter(({ status }) => isCompleted(status))
  await wakeAutoMerges(
    db,
    over.map(({ id }) => id),
  )
}
