import { sql } from 'kysely'
import { statement, type Slots } from '../db/statement.ts'
import type { RefMove } from '../git/refs/refs.ts'
import type { Instance } from '../instance.ts'
import { enqueue, type Job } from '../jobs/job.ts'
import { repositoryPath } from './projects.ts'

const HEADS = 'refs/heads/'
const TAGS = 'refs/tags/'
/** Refs that one push may move and still get a pipeline each, as published. */
const MAX_REFS = 4

/** Branches and tags that were pushed. */
export interface PushedRefs {
  readonly project_id: number
  readonly user_id: number
  readonly moves: readonly { readonly ref: string; readonly from: string | null; readonly to: string }[]
}

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

/** Asks for the pipelines of moved branches and tags, where one of them has a configuration. */
export async function askForPipelines(
  { db, git }: Pick<Instance, 'db' | 'git'>,
  { project_id, user_id }: Pick<PushedRefs, 'project_id' | 'user_id'>,
  moved: readonly RefMove[],
): Promise<void> {
  const moves = moved.flatMap(({ ref, from, to }) =>
    to !== undefined && (ref.startsWith(HEADS) || ref.startsWith(TAGS))
      ? [{ ref, from: from ?? null, to }]
      : [],
  )
  if (moves.length === 0 || moves.length > MAX_REFS) return
  const path = (await db.one(configured, { id: project_id }))?.path ?? '.gitlab-ci.yml'
  const repository = git.repository(repositoryPath(project_id))
  for (const { to } of moves) {
    const sha = await repository.resolve(to)
    if (sha !== undefined && (await repository.entry(sha, path)) !== undefined)
      return enqueue(db, pushedRefs, { project_id, user_id, moves })
  }
}
