import { Type as t, type Static } from 'typebox'
import { developer, project, signedIn } from '../../access/gates/gates.ts'
import { maySetVariables } from '../../ci/creation/creation_checks.ts'
import * as actions from '../../ci/jobs/actions.ts'
import { findJob } from '../../ci/jobs/store.ts'
import { removeTraces } from '../../ci/jobs/trace_removal.ts'
import { sealVariables } from '../../ci/creation/sealed_variables.ts'
import { cancelJobs, inTurn } from '../../ci/turn.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { Job as JobRow } from '../../db/schema/ci.ts'
import { allows, type Actor, type Has } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { forbidden, noSuchRecord, refused, type Problem } from '../../http/problems.ts'
import { enqueue } from '../../jobs/job.ts'
import { presentJobs } from '../../records/jobs/job.ts'
import { Job, presentJob } from '../../records/jobs/job_detail.ts'
import { anyJob, job, writesJob } from './gates.ts'
import * as jobs from './store.ts'

type OnJob = Has<{ project: Project; actor: Actor; job: jobs.JobOnRef }>
async function show(ctx: OnJob, row: JobRow | undefined): Promise<Static<typeof Job>> {
  const [shown] = row === undefined ? [] : await presentJobs(ctx, ctx.project, [row], presentJob)
  if (shown === undefined) throw noSuchRecord()
  return shown
}
const showById = async (ctx: OnJob, id: number): Promise<Static<typeof Job>> =>
  show(ctx, await findJob(ctx.db, ctx.project.id, id))

const unplayable = (): Problem => refused('400 Bad request - Unplayable Job')
const notRetryable = (): Problem => forbidden('Job is not retryable')
const notErasable = (): Problem => forbidden('Job is not erasable!')

export const playJob = operation({
  method: 'POST',
  path: '/projects/:id/jobs/:job_id/play',
  summary: 'Play a manual or delayed job',
  published: true,
  moves: 'rows',
  first: [signedIn],
  params: t.Object({
    job_variables_attributes: t.Optional(
      t.Array(
        t.Object({
          key: t.Unsafe<string>({ type: 'string', pattern: String.raw`^\w{1,255}$` }),
          value: t.String({ maxLength: 10_000 }),
        }),
      ),
    ),
  }),
  gates: [project, developer, anyJob, writesJob],
  handle: async (ctx) => {
    const { project, actor, job, params, vault } = ctx
    const variables = params.job_variables_attributes ?? []
    if (variables.length > 0 && !maySetVariables(project, actor)) throw forbidden()
    const given = { user_id: actor.id, variables: sealVariables(vault, variables) }
    const id = await ctx.transact(ctx, ({ db }) =>
      inTurn(db, project.id, async (turn) => {
        const now = await findJob(db, project.id, job.id)
        if (now === undefined) throw noSuchRecord()
        if (!actions.isPlayable(now)) throw unplayable()
        return actions.playJob(turn, job.id, given)
      }),
    )
    return showById(ctx, id ?? job.id)
  },
  returns: Job,
  status: 200,
  refuses: [unplayable],
})

export const retryJob = operation({
  method: 'POST',
  path: '/projects/:id/jobs/:job_id/retry',
  summary: 'Retry a finished job as a new job',
  published: true,
  moves: 'rows',
  first: [signedIn],
  gates: [project, developer, anyJob, writesJob],
  handle: async (ctx) => {
    const { project, actor, job } = ctx
    const id = await ctx.transact(ctx, ({ db }) =>
      inTurn(db, project.id, (turn) => actions.retryJob(turn, job.id, actor.id)),
    )
    if (id === undefined) throw notRetryable()
    return showById(ctx, id)
  },
  returns: Job,
  refuses: [notRetryable],
})

export const cancelJob = operation({
  method: 'POST',
  path: '/projects/:id/jobs/:job_id/cancel',
  summary: 'Cancel a job; a finished job stays as it is',
  published: true,
  moves: 'rows',
  first: [signedIn],
  params: t.Object({
    force: t.Boolean({ default: false, description: 'Ends a job that is being canceled; for Maintainers' }),
  }),
  gates: [project, developer, job, writesJob],
  handle: async (ctx) => {
    const { project, actor, job, params } = ctx
    if (params.force && !actor.admin && project.role < ROLES.maintainer) throw forbidden()
    await ctx.transact(ctx, ({ db }) =>
      inTurn(db, project.id, async (turn) => {
        if (params.force) await turn.enter([job.id], ['canceling'], 'canceled')
        await cancelJobs(turn, [job.id])
      }),
    )
    return showById(ctx, job.id)
  },
  returns: Job,
})

/** Maintainers erase any job, Developers those that they started. */
const erases = allows({
  says: 'a Maintainer, or the Developer who started the job on an unprotected branch',
  refuses: forbidden,
  holds: ({ actor, project, job }: OnJob) =>
    actor.admin ||
    project.role >= ROLES.maintainer ||
    (job.user_id === actor.id && !job.protected && project.role >= ROLES.developer),
})

export const eraseJob = operation({
  method: 'POST',
  path: '/projects/:id/jobs/:job_id/erase',
  summary: 'Erase the log and artifacts of a finished job',
  published: true,
  moves: 'rows',
  first: [signedIn],
  gates: [project, developer, job, erases, writesJob],
  handle: async (ctx) => {
    const { job } = ctx
    const row = await ctx.transact(ctx, async ({ db }) => {
      const erased = await jobs.erase(db, job.id)
      if (erased === undefined) throw notErasable()
      await enqueue(db, removeTraces, { job_ids: [job.id] })
      return erased
    })
    return show(ctx, row)
  },
  returns: Job,
  refuses: [notErasable],
})
