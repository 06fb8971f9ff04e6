import { Type as t } from 'typebox'
import { developer, maintainer, project, signedIn } from '../../access/gates/gates.ts'
import { readsPipelines } from '../../access/gates/pipeline_gates.ts'
import { findZipEntry, openZipEntry } from '../../blobs/zip.ts'
import { findArtifact, removeArtifacts } from '../../ci/jobs/artifacts.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { bytes, Download } from '../../http/answers/download.ts'
import type { Context, Gate } from '../../http/gate.ts'
import { nothing, operation } from '../../http/operation.ts'
import { forbidden, noSuchRecord, refused, type Problem } from '../../http/problems.ts'
import { filled } from '../../http/params/schema.ts'
import { enqueue } from '../../jobs/job.ts'
import { presentJobs } from '../../records/jobs/job.ts'
import { Job, presentJob } from '../../records/jobs/job_detail.ts'
import * as artifacts from './artifact_store.ts'
import { job, writesJob } from './gates.ts'
import type { JobOnRef } from './store.ts'

const LEVELS = { all: 0, developer: ROLES.developer, maintainer: ROLES.maintainer, none: Infinity }

/** `artifacts:access` and `artifacts:public` of the configuration narrow who reads. */
const readsArtifacts: Gate<'allows', never, { project: Project; job: JobOnRef }, object> = {
  kind: 'allows',
  says: 'the role that the job asks of readers of its artifacts',
  refuses: forbidden,
  pass: async ({ actor, db, project, job }) => {
    const { access, public: isPublic = true } = await artifacts.artifactsOptions(db, job.id)
    const least = LEVELS[access ?? (isPublic ? 'all' : 'developer')]
    return least !== Infinity && (actor?.admin === true || project.role >= least) ? {} : undefined
  },
}

type OnRef = { project: Project; params: { readonly ref_name: string; readonly job: string } }
const newestJob: Gate<'checks', never, OnRef, { job: JobOnRef }> = {
  kind: 'checks',
  says: 'a job of that name in the newest successful pipeline of the branch or tag',
  refuses: noSuchRecord,
  pass: async ({ db, project, params }) => {
    const place = { project_id: project.id, ref: params.ref_name, name: params.job }
    const found = await artifacts.findOnRef(db, place)
    return found && { job: found }
  },
}

const attachment = (name: string): string =>
  `attachment; filename="${name.replaceAll(/[^ -~]|["\\]/g, '_')}"; filename*=UTF-8''${encodeURIComponent(name)}`

async function serveArchive({ db, blobs, job }: Context & { readonly job: JobOnRef }): Promise<Download> {
  const file = await findArtifact(db, job.id, 'archive')
  if (file === undefined) throw noSuchRecord()
  return new Download(
    {
      'content-type': 'application/zip',
      'content-disposition': attachment(file.filename),
      etag: `"${file.sha256}"`,
      'cache-control': 'private, no-store',
    },
    (range) => blobs.read(file.sha256, range),
    file.size,
  )
}

const badPath = (): Problem => refused('400 Bad request')
/** A path inside of the archive: neither absolute nor upwards. */
const isInside = (path: string): boolean =>
  path !== '' && !path.startsWith('/') && !path.split('/').some((part) => part === '..' || part === '.')

async function serveFile(
  { db, blobs, job }: Context & { readonly job: JobOnRef },
  path: string,
): Promise<Download> {
  if (!isInside(path)) throw badPath()
  const archive = await findArtifact(db, job.id, 'archive')
  const { sha256 = '', size = 0 } = archive ?? {}
  const source = { size, read: (range: { start: number; end: number }) => blobs.read(sha256, range) }
  const entry = archive && (await findZipEntry(source, path))
  if (entry === undefined) throw noSuchRecord()
  return new Download(
    {
      'content-type': 'application/octet-stream',
      'content-length': String(entry.size),
      'content-disposition': attachment(path.split('/').at(-1) ?? ''),
      'cache-control': 'private, no-store',
      'x-content-type-options': 'nosniff',
    },
    () => openZipEntry(source, entry),
  )
}

export const downloadJobArtifacts = operation({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id/artifacts',
  summary: 'Download the artifacts of a job',
  published: true,
  jobTokens: true,
  gates: [project, readsPipelines, job, readsArtifacts],
  handle: serveArchive,
  returns: bytes(),
  refuses: [noSuchRecord],
})

export const downloadJobArtifactFile = operation({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id/artifacts/:artifact_path',
  summary: 'Download one file of the artifacts of a job',
  published: true,
  jobTokens: true,
  params: t.Object({ artifact_path: t.String() }),
  gates: [project, readsPipelines, job, readsArtifacts],
  handle: async (ctx) => serveFile(ctx, ctx.params.artifact_path),
  returns: bytes(),
  refuses: [badPath, noSuchRecord],
})

const onRef = { ref_name: t.String({ description: 'A branch or tag' }), job: filled() }

export const downloadRefArtifacts = operation({
  method: 'GET',
  path: '/projects/:id/jobs/artifacts/:ref_name/download',
  summary: 'Download the artifacts of a job in the newest successful pipeline of a branch or tag',
  published: true,
  jobTokens: true,
  params: t.Object(onRef),
  gates: [project, readsPipelines, newestJob, readsArtifacts],
  handle: serveArchive,
  returns: bytes(),
  refuses: [noSuchRecord],
})

export const downloadRefArtifactFile = operation({
  method: 'GET',
  path: '/projects/:id/jobs/artifacts/:ref_name/raw/:artifact_path',
  summary: 'Download one file of the artifacts of a job in the newest successful pipeline of a branch or tag',
  published: true,
  jobTokens: true,
  params: t.Object({ ...onRef, artifact_path: t.String() }),
  gates: [project, readsPipelines, newestJob, readsArtifacts],
  handle: async (ctx) => serveFile(ctx, ctx.params.artifact_path),
  returns: bytes(),
  refuses: [badPath, noSuchRecord],
})

export const keepJobArtifacts = operation({
  method: 'POST',
  path: '/projects/:id/jobs/:job_id/artifacts/keep',
  summary: 'Keep the artifacts of a job: remove their expiry',
  published: true,
  moves: 'rows',
  first: [signedIn],
  gates: [project, developer, job, writesJob],
  handle: async (ctx) => {
    const row = await ctx.transact(ctx, ({ db }) => artifacts.keep(db, ctx.job.id))
    const [shown] = row === undefined ? [] : await presentJobs(ctx, ctx.project, [row], presentJob)
    if (shown === undefined) throw noSuchRecord()
    return shown
  },
  returns: Job,
  status: 200,
  refuses: [noSuchRecord],
})

export const deleteJobArtifacts = operation({
  method: 'DELETE',
  path: '/projects/:id/jobs/:job_id/artifacts',
  summary: 'Delete the artifacts of a job',
  published: true,
  first: [signedIn],
  gates: [project, maintainer, job],
  handle: async ({ db, job }) => {
    await artifacts.remove(db, job.id)
    return null
  },
  returns: nothing,
})

export const deleteProjectArtifacts = operation({
  method: 'DELETE',
  path: '/projects/:id/artifacts',
  summary: 'Delete the artifacts of all finished jobs of a project',
  published: true,
  first: [signedIn],
  gates: [project, maintainer],
  handle: async ({ db, project }) => {
    await enqueue(db, removeArtifacts, { project_id: project.id }, `artifacts ${project.id}`)
    return { message: '202 Accepted' }
  },
  returns: t.Object({ message: t.String() }),
  status: 202,
})
