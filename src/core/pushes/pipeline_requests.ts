import { sql } from 'kysely'
import { statement, type Slots } from '../../db/statement.ts'
import type { RefMove } from '../../git/refs/refs.ts'
import type { Instance } from '../../instance.ts'
import { wanted, type Job, type Wanted } from '../../jobs/job.ts'
import { repositoryPath } from '../places/projects.ts'
import { MAX_BRANCHES } from './option_faults.ts'
import {
  mergeRequestOptions,
  pipelineOptions,
  type MergeRequestOptions,
  type PipelineOptions,
  type PushOptions,
} from './options.ts'

const HEADS = 'refs/heads/'
const TAGS = 'refs/tags/'
/** Refs that one push may move and still get a pipeline each, as published. */
const MAX_REFS = 4

interface Pushing {
  readonly project_id: number
  readonly user_id: number
  readonly options?: PushOptions
}

/** Branches and tags that were pushed. */
export interface PushedRefs {
  readonly project_id: number
  readonly user_id: number
  readonly moves: readonly { readonly ref: string; readonly from: string | null; readonly to: string }[]
  readonly options?: PipelineOptions
  /** The merge request options of a push, applied once its pipelines exist. */
  readonly after?: PushedOptions
}

/** The options of a push for the merge requests of its branches. */
export interface PushedOptions {
  readonly project_id: number
  readonly user_id: number
  readonly branches: readonly string[]
  readonly options: MergeRequestOptions
}
/** Obeys push options about merge requests. Runs in `areas/merge_requests`. */
export const pushedOptions: Pick<Job<PushedOptions>, 'name'> = { name: 'obey_push_options' }

/** Creates the pipelines of a push: the engine, which stands above this room, has the job of that name. */
export const pushedRefs: Pick<Job<PushedRefs>, 'name'> = { name: 'create_push_pipelines' }

/** A merge request that was opened. */
export interface NewMergeRequest {
  readonly merge_request_id: number
  readonly user_id: number
}
/** Creates the first pipeline of a merge request: the same of a merge request. */
export const newMergeRequest: Pick<Job<NewMergeRequest>, 'name'> = { name: 'create_first_pipeline' }

const configured = statement(
  (p: Slots<{ id: number }>) => sql<{ path: string | null }>`
    select nullif(settings->>'ci_config_path', '') as path from projects where id = ${p.id}`,
)

/** The jobs that make pipelines of moved branches and tags, where one of them has a configuration, and obey the options. */
export async function pipelineJobs(
  { db, git }: Pick<Instance, 'db' | 'git'>,
  { project_id, user_id, options = { plain: [] } }: Pushing,
  moved: readonly RefMove[],
): Promise<Wanted[]> {
  const moves = moved.flatMap(({ ref, from, to }) =>
    to !== undefined && (ref.startsWith(HEADS) || ref.startsWith(TAGS))
      ? [{ ref, from: from ?? null, to }]
      : [],
  )
  const branches = moves.flatMap(({ ref }) => (ref.startsWith(HEADS) ? [ref.slice(HEADS.length)] : []))
  const asked = mergeRequestOptions(options.plain)
  const after =
    asked === undefined || branches.length === 0 || branches.length > MAX_BRANCHES
      ? undefined
      : { project_id, user_id, branches, options: asked }
  const payload = { project_id, user_id, moves, options: pipelineOptions(options), ...(after && { after }) }
  if (await mayRun({ db, git }, payload)) return [wanted(pushedRefs, payload)]
  return after === undefined ? [] : [wanted(pushedOptions, after)]
}

/** Whether one of the moved refs has a configuration. */
async function mayRun(
  { db, git }: Pick<Instance, 'db' | 'git'>,
  { project_id, moves }: Pick<PushedRefs, 'project_id' | 'moves'>,
): Promise<boolean> {
  if (moves.length === 0 || moves.length > MAX_REFS) return false
  const path = (await db.one(configured, { id: project_id }))?.path ?? '.gitlab-ci.yml'
  const repository = git.repository(repositoryPath(project_id))
  for (const { to } of moves) {
    const sha = await repository.resolve(to)
    if (sha !== undefined && (await repository.entry(sha, path)) !== undefined) return true
  }
  return false
}
