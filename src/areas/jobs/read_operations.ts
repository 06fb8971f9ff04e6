import { Readable } from 'node:stream'
import { Type as t } from 'typebox'
import { project, signedIn } from '../../access/gates/gates.ts'
import { readsPipelines } from '../../access/gates/pipeline_gates.ts'
import { bytes, Download } from '../../http/answers/download.ts'
import type { Context, Gate, Has } from '../../http/gate.ts'
import { operation, pageOf, type PageRequest } from '../../http/operation.ts'
import { badParams, forbidden, notFound } from '../../http/problems.ts'
import { listOf, nullable, oneOf } from '../../http/params/schema.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { Project } from '../../core/places/projects.ts'
import { openVariables } from '../../ci/creation/sealed_variables.ts'
import { JobBasic, presentJobBasic, presentJobs } from '../../records/jobs/job.ts'
import { Job, presentJob } from '../../records/jobs/job_detail.ts'
import { Pipeline as PipelineBasic } from '../../records/pipelines/pipeline.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import { presentDownstream } from './downstream.ts'
import { job, pipeline } from './gates.ts'
import * as jobs from './store.ts'

const SCOPES = [
  ...(['created', 'waiting_for_resource', 'preparing', 'waiting_for_callback', 'pending'] as const),
  ...(['running', 'canceling', 'success', 'failed', 'canceled', 'skipped', 'manual', 'scheduled'] as const),
] as const
const scope = t.Optional(listOf(oneOf(SCOPES, { description: 'States of jobs' })))

/** The id that a page begins below; null for the first page. */
function cursorOf({ cursor }: PageRequest): number | null {
  if (cursor === undefined || cursor === '') return null
  if (!/^\d{1,15}$/.test(cursor)) throw badParams(['cursor is invalid'])
  return Number(cursor)
}

export const listJobs = operation({
  method: 'GET',
  path: '/projects/:id/jobs',
  summary: 'List the jobs of a project, the newest first',
  published: true,
  first: [signedIn],
  params: t.Object({ scope }),
  gates: [project, readsPipelines],
  handle: async (ctx) => {
    const { db, project, params, page } = ctx
    const isKeyset = page.cursor !== undefined
    const shape = { of: 'project', kind: 'build', scoped: params.scope !== undefined, retried: true } as const
    const found = await jobs.list(db, shape, {
      id: project.id,
      scope: params.scope ?? [],
      before: cursorOf(page),
      limit: isKeyset ? page.limit + 1 : page.limit,
      offset: isKeyset ? 0 : page.offset,
    })
    const items = await presentJobs(ctx, project, found.items.slice(0, page.limit), presentJob)
    if (!isKeyset) return { items, total: undefined }
    const last = items.at(-1)
    return { items, next: last && found.items.length > page.limit ? String(last.id) : undefined }
  },
  returns: pageOf(Job, { keyset: true }),
  refuses: [badParams(['cursor is invalid'])],
})

type InPipeline = Has<{ project: Project; pipeline: Pipeline; page: PageRequest }>
interface Wanted {
  readonly scope?: readonly string[]
  readonly include_retried?: boolean
}
const ofPipeline = (
  { db, pipeline, page }: InPipeline,
  kind: 'build' | 'bridge',
  { scope, include_retried = false }: Wanted,
): ReturnType<typeof jobs.list> =>
  jobs.list(
    db,
    { of: 'pipeline', kind, scoped: scope !== undefined, retried: include_retried },
    { id: pipeline.id, scope: scope ?? [], before: null, limit: page.limit, offset: page.offset },
  )

export const listPipelineJobs = operation({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/jobs',
  summary: 'List the jobs of a pipeline, the newest first',
  published: true,
  jobTokens: true,
  params: t.Object({ scope, include_retried: t.Boolean({ default: false }) }),
  gates: [project, readsPipelines, pipeline],
  handle: async (ctx) => {
    const { items, total } = await ofPipeline(ctx, 'build', ctx.params)
    return { items: await presentJobs(ctx, ctx.project, items, presentJob), total }
  },
  returns: pageOf(Job),
})

const Bridge = t.Object({ ...JobBasic.properties, downstream_pipeline: nullable(PipelineBasic) })

export const listPipelineBridges = operation({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/bridges',
  summary: 'List the trigger jobs of a pipeline',
  published: true,
  params: t.Object({ scope }),
  gates: [project, readsPipelines, pipeline],
  handle: async (ctx) => {
    const { items, total } = await ofPipeline(ctx, 'bridge', ctx.params)
    const shown = await presentJobs(ctx, ctx.project, items, presentJobBasic)
    const ids = new Map(
      items.flatMap((one) => (one.downstream_id === null ? [] : [[one.id, one.downstream_id]])),
    )
    const pipelines = await presentDownstream(ctx, [...ids.values()])
    return {
      items: shown.map((one) => ({
        ...one,
        downstream_pipeline: pipelines.get(ids.get(one.id) ?? 0) ?? null,
      })),
      total,
    }
  },
  returns: pageOf(Bridge),
})

export const getJob = operation({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id',
  summary: 'Get a job',
  published: true,
  first: [signedIn],
  gates: [project, readsPipelines, job],
  handle: async (ctx) => {
    const [shown] = await presentJobs(ctx, ctx.project, [ctx.job], presentJob)
    return shown as NonNullable<typeof shown>
  },
  returns: Job,
})

type OwnJob = NonNullable<Awaited<ReturnType<typeof jobs.findWithProject>>>
/** A job asks for itself by its token; to every other token there is no such job. */
const ownJob: Gate<'checks', never, object, { job: OwnJob }> = {
  kind: 'checks',
  says: 'the token of a running job',
  refuses: () => notFound('Job'),
  pass: async ({ db, jobId }: Context) => {
    const found = jobId === null ? undefined : await jobs.findWithProject(db, jobId)
    return found && { job: found }
  },
}

export const getOwnJob = operation({
  method: 'GET',
  path: '/job',
  summary: 'Get the running job of a job token',
  published: true,
  jobTokens: true,
  first: [signedIn],
  gates: [ownJob],
  handle: async (ctx) => {
    const { job } = ctx
    const place = { id: job.project_id, full_path: job.full_path, archived: job.archived }
    const [shown] = await presentJobs(ctx, place, [job], presentJob)
    return shown as NonNullable<typeof shown>
  },
  returns: Job,
})

const DEBUG = ['CI_DEBUG_TRACE', 'CI_DEBUG_SERVICES']

/** Logs of jobs that print every variable are for Developers. */
const readsTrace: Gate<'allows', never, { project: Project; job: jobs.JobOnRef }, object> = {
  kind: 'allows',
  says: 'at least Developer, where the job runs with CI_DEBUG_TRACE',
  refuses: forbidden,
  pass: async ({ actor, db, vault, project, job }) => {
    if (actor?.admin === true || project.role >= ROLES.developer) return {}
    const given = await jobs.variablesOf(db, job.id)
    const variables = [
      ...given.variables,
      ...openVariables(vault, given.pipeline_variables),
      ...openVariables(vault, job.variables),
    ]
    return variables.some(({ key, value }) => DEBUG.includes(key) && value === 'true') ? undefined : {}
  },
}

export const getJobTrace = operation({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id/trace',
  summary: 'Get the log of a job',
  published: true,
  first: [signedIn],
  gates: [project, readsPipelines, job, readsTrace],
  handle: async ({ traces, job }) =>
    new Download(
      {
        'content-type': 'text/plain',
        'content-disposition': `infile; filename="${job.id}.log"`,
        'cache-control': 'private, no-store',
        'x-content-type-options': 'nosniff',
      },
      async () => (job.erased_at === null ? await traces.read(job.id) : undefined) ?? Readable.from([]),
    ),
  returns: bytes(),
})
