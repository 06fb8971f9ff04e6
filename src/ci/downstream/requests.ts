import { text } from 'node:stream/consumers'
import { findZipEntry, openZipEntry } from '../../blobs/zip.ts'
import { findProjectAs } from '../../core/places/project_roles.ts'
import { findByRef, repositoryPath, type Project } from '../../core/places/projects.ts'
import { pushRules } from '../../core/repositories/protected_branches.ts'
import { ROLES, canSee } from '../../core/sight/roles.ts'
import type { User } from '../../db/schema/tables.ts'
import type { Instance } from '../../instance.ts'
import type { PlannedTrigger, Variable } from '../config/plan.ts'
import { checkRequest } from '../creation/creation_checks.ts'
import { findEndsAt } from '../creation/merge_request_facts.ts'
import type { ParentPipeline, PipelineRequest } from '../creation/pipeline_request.ts'
import { findArtifact } from '../jobs/artifacts.ts'
import type { JobDetail } from '../jobs/store_detail.ts'
import { hindranceOf } from '../runners/queue.ts'
import { forwardedVariables } from './forwarding.ts'
import { findProducer, hierarchySize, upstreamsOf, type Upstream } from './store.ts'

// From a bridge to the request of its downstream pipeline, with the rights that its user holds now.

/** Generations of child pipelines below a pipeline, as published. */
const MAX_CHILD_LEVELS = 2
/** Pipelines of one hierarchy, as published. */
const MAX_HIERARCHY = 1_000
/** Times that a branch of a project may stand in a line of pipelines that trigger each other. */
const MAX_VISITS = 2
/** Bytes of a configuration in an artifact. One that is longer is cut, which the limits then refuse. */
const MAX_ARTIFACT_BYTES = 1_100_000

type Wanted = { readonly request: PipelineRequest } | { readonly reason: string }

/** The request of a pending bridge, or the published reason for which there is none. */
export async function downstreamRequest(
  instance: Instance,
  detail: JobDetail & { readonly trigger: PlannedTrigger },
): Promise<Wanted> {
  const { db, git } = instance
  const { job, user, pipeline, trigger } = detail
  const hindrance = await hindranceOf(db, job.id)
  if (user === undefined) return { reason: 'user_blocked' }
  if (hindrance !== null) return { reason: hindrance }
  const home = await findProjectAs(db, job.project_id, user.id)
  if (home === undefined || !(user.admin || home.role >= ROLES.developer))
    return { reason: 'insufficient_bridge_permissions' }
  const upstreams = await upstreamsOf(db, pipeline.id)
  const first = upstreams.at(-1)?.id ?? pipeline.id
  if ((await hierarchySize(db, first, MAX_HIERARCHY)) >= MAX_HIERARCHY)
    return { reason: 'reached_max_pipeline_hierarchy_size' }
  const commit = await git.repository(repositoryPath(job.project_id)).commit(pipeline.sha)
  if (commit === undefined) return { reason: 'data_integrity_failure' }
  const read = (): Promise<Variable[]> =>
    forwardedVariables(instance, detail, { forward: trigger.forward, commit })
  const place = { detail, user, upstreams, read }
  return trigger.include === null ? toProject(instance, place) : toChild(instance, { ...place, home })
}

interface From {
  readonly detail: JobDetail & { readonly trigger: PlannedTrigger }
  readonly user: User
  readonly upstreams: readonly Upstream[]
  readonly read: () => Promise<Variable[]>
}

async function toChild(
  instance: Instance,
  { detail, user, upstreams, read, home }: From & { readonly home: Project },
): Promise<Wanted> {
  const { pipeline, job, trigger } = detail
  const top = upstreams.findIndex(({ source }) => source !== 'parent_pipeline')
  if ((top < 0 ? upstreams.length : top) >= MAX_CHILD_LEVELS)
    return { reason: 'reached_max_descendant_pipelines_depth' }
  const { merge_request_id: id } = pipeline
  const ends = id === null ? undefined : await findEndsAt(instance.db, id, pipeline.sha)
  const parent: ParentPipeline = {
    pipeline,
    // JSON is YAML.
    content: JSON.stringify({ include: trigger.include }),
    readArtifact: (name, path) => readArtifact(instance, { pipeline_id: pipeline.id, name, path }),
  }
  const request: PipelineRequest = {
    project: home,
    user,
    ref: pipeline.tag ? `refs/tags/${pipeline.ref}` : pipeline.ref,
    sha: pipeline.sha,
    before: pipeline.before_sha,
    source: 'parent_pipeline',
    variables: await read(),
    source_job_id: job.id,
    parent,
    ...(ends && { merge_request: ends }),
  }
  return { request }
}

async function toProject(instance: Instance, from: From): Promise<Wanted> {
  const { db } = instance
  const { user, upstreams } = from
  const { project: path, branch } = from.detail.trigger
  const named = path?.includes('/') === true ? await findByRef(db, path) : undefined
  const project = named && (await findProjectAs(db, named.id, user.id))
  // To a user who does not see it, a project does not exist.
  if (project === undefined || !canSee(user, project.visibility, project.role, ROLES.guest))
    return { reason: 'downstream_bridge_project_not_found' }
  if (project.id === from.detail.job.project_id) return { reason: 'invalid_bridge_trigger' }
  const ref = branch ?? project.default_branch ?? ''
  const wanted = { project, user, ref, source: 'pipeline', source_job_id: from.detail.job.id } as const
  const rights = { ...wanted, variables: [] }
  if (checkRequest(rights, await pushRules(db, project)) !== undefined)
    return { reason: 'insufficient_bridge_permissions' }
  const visits = upstreams.filter((one) => one.project_id === project.id && one.ref === ref)
  if (visits.length >= MAX_VISITS) return { reason: 'pipeline_loop_detected' }
  return { request: { ...wanted, variables: await from.read() } }
}

interface Wish {
  readonly pipeline_id: number
  /** Of the job. */
  readonly name: string
  readonly path: string
}
async function readArtifact(
  { db, blobs }: Pick<Instance, 'db' | 'blobs'>,
  { pipeline_id, name, path }: Wish,
): Promise<string | { readonly fault: string }> {
  const job = await findProducer(db, pipeline_id, name)
  const archive = job === undefined ? undefined : await findArtifact(db, job, 'archive')
  if (archive === undefined)
    return { fault: `Job \`${name}\` not found in parent pipeline or does not have artifacts!` }
  const source = {
    size: archive.size,
    read: (range: { start: number; end: number }) => blobs.read(archive.sha256, range),
  }
  const entry = await findZipEntry(source, path)
  if (entry === undefined) return { fault: `Artifact file \`${path}\` of job \`${name}\` does not exist!` }
  return entry.size > MAX_ARTIFACT_BYTES
    ? ' '.repeat(MAX_ARTIFACT_BYTES)
    : text(await openZipEntry(source, entry))
}
