import { randomBytes } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { digestOf } from '../access/tokens.ts'
import { finishJob, returnJob } from '../ci/jobs/actions.ts'
import { dependenciesOf, jobDetail, type Dependency, type JobDetail } from '../ci/jobs/store_detail.ts'
import { setDeploymentUrl } from '../ci/environments/deployments.ts'
import { resolveVariables } from '../ci/jobs/resolved_variables.ts'
import { deployedUrl } from '../ci/jobs/variables.ts'
import { variablesOf } from '../ci/creation/predefined.ts'
import { nextCandidate, startJob, type HandOver } from '../ci/runners/queue.ts'
import { JOB_TOKEN_PREFIX } from '../access/presented_tokens.ts'
import { findRunnerByDigest } from '../ci/runners/runners.ts'
import { inTurn } from '../ci/turn.ts'
import { repositoryPath } from '../core/places/projects.ts'
import type { Job } from '../db/schema/ci.ts'
import type { Instance } from '../instance.ts'
import { answerJson, enterRunner, sentBy, textIn, treeIn, type Around } from './access.ts'
import { jobPayload } from './payload.ts'

/** Milliseconds that a runner waits for a job before it is told that there is none. */
const PATIENCE = 25_000
/** Jobs of which another runner may be the faster one, one after the other. */
const ATTEMPTS = 20

/** Answers a job to run, or 204 after a while without one. */
export async function requestJob(
  around: Around,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { runner, managerId } = await enterRunner(around, request, reply)
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  const sent = sentBy(request)
  const features = treeIn(treeIn(sent, 'info'), 'features')
  const by = { runner, manager_id: managerId, cancels_gracefully: features['cancel_gracefully'] === true }
  const known = textIn(sent, 'last_update') ?? request.headers['x-gitlab-last-update']
  const deadline = Date.now() + PATIENCE
  for (;;) {
    const tick = around.waiting.tick()
    const taken = runner.paused || gone.signal.aborted ? undefined : await takeJob(around.instance, by)
    if (taken !== undefined) return handJob(around, reply, taken)
    const left = deadline - Date.now()
    // A first request is answered at once: the runner needs `x-gitlab-last-update` for its next one.
    if (known === undefined || known !== tick || left <= 0 || gone.signal.aborted || runner.paused)
      return reply.header('x-gitlab-last-update', tick).code(204).send()
    await around.waiting.next(left, gone.signal)
    if (around.waiting.tick() !== tick && !gone.signal.aborted) {
      // The runner may have been changed, paused or deleted meanwhile.
      const now = await findRunnerByDigest(around.instance.db, runner.digest)
      const mayRun = now !== undefined && !now.paused
      const late = mayRun ? await takeJob(around.instance, { ...by, runner: now }) : undefined
      if (late !== undefined) return handJob(around, reply, late)
      return reply.header('x-gitlab-last-update', around.waiting.tick()).code(204).send()
    }
  }
}

interface TakenJob {
  readonly job: Job
  readonly payload: object
}

/** Answers a job; one whose answer did not leave this server returns to the queue. */
function handJob({ instance: { db } }: Around, reply: FastifyReply, taken: TakenJob): FastifyReply {
  const { id, project_id } = taken.job
  let isSent = false
  reply.raw.once('finish', () => (isSent = true))
  const back = (): void => {
    if (isSent) return
    // Without the database the job returns later, as one whose runner was not heard of.
    db.transaction((tx) => inTurn(tx, project_id, (turn) => returnJob(turn, id))).catch(() => {})
  }
  if (reply.raw.destroyed) back()
  else reply.raw.once('close', back)
  return answerJson(reply, 201, taken.payload)
}

/** Takes the next job that the runner may run, and that can be run. */
async function takeJob(
  instance: Instance,
  by: Omit<HandOver, 'token_digest'>,
): Promise<TakenJob | undefined> {
  const { db } = instance
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const candidate = await nextCandidate(db, by.runner)
    if (candidate === undefined) return undefined
    const token = JOB_TOKEN_PREFIX + randomBytes(20).toString('hex')
    const hand = { ...by, token_digest: digestOf(token) }
    const job = await db.transaction((tx) =>
      inTurn(tx, candidate.project_id, (turn) => startJob(turn, candidate.id, hand)),
    )
    const payload = job && (await prepare(instance, job, { token, runner: by.runner }))
    if (job !== undefined && payload !== undefined) return { job, payload }
  }
  return undefined
}

type Taken = { readonly token: string; readonly runner: HandOver['runner'] }

/** The job's payload; undefined where the job cannot run, which ends it. */
async function prepare(instance: Instance, job: Job, taken: Taken): Promise<object | undefined> {
  const { db, git, config } = instance
  const detail = await jobDetail(db, job)
  if (detail === undefined) return undefined
  const repository = git.repository(repositoryPath(job.project_id))
  const [dependencies, commit, ref] = await Promise.all([
    dependenciesOf(db, detail),
    repository.commit(detail.pipeline.sha),
    repository.ref(`refs/${detail.pipeline.tag ? 'tags' : 'heads'}/${detail.pipeline.ref}`),
  ])
  const failure = commit === undefined ? 'data_integrity_failure' : missing(dependencies, detail)
  if (commit === undefined || failure !== undefined) {
    const outcome = { status: 'failed', failure_reason: failure ?? 'data_integrity_failure' } as const
    await db.transaction((tx) => inTurn(tx, job.project_id, (turn) => finishJob(turn, job.id, outcome)))
    return undefined
  }
  const { id: runnerId, description } = taken.runner
  const variables = await resolveVariables(instance, detail, {
    commit,
    dependencies,
    token: taken.token,
    runner: variablesOf({ CI_RUNNER_ID: runnerId, CI_RUNNER_DESCRIPTION: description }),
  })
  const url = deployedUrl(detail, variables)
  if (url !== null && url !== detail.spec.environment?.url) await setDeploymentUrl(db, job.id, url)
  return jobPayload({
    detail,
    variables,
    dependencies: dependencies.filter(({ archive }) => archive !== null),
    hasRef: ref !== undefined,
    url: config.url,
    now: new Date(),
    ...taken,
  })
}

/** A job that names whose artifacts it needs does not run without them. */
const missing = (dependencies: readonly Dependency[], { spec }: JobDetail): string | undefined => {
  const isNamed = (name: string): boolean => spec.dependencies?.includes(name) ?? false
  const isLost = (one: Dependency): boolean =>
    one.archive === null &&
    (one.erased_at !== null ||
      (one.artifacts_expire_at !== null && one.artifacts_expire_at.getTime() < Date.now()))
  return dependencies.some((one) => isNamed(one.name) && isLost(one))
    ? 'missing_dependency_failure'
    : undefined
}
