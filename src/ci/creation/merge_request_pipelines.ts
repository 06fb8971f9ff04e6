import { sql } from 'kysely'
import { compareAgain } from '../../core/merge_requests/moves.ts'
import { openRequests } from '../../core/merge_requests/rows.ts'
import { newMergeRequest, type NewMergeRequest } from '../../core/pushes/pipeline_requests.ts'
import { findProjectAs } from '../../core/places/project_roles.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import * as users from '../../core/people/users.ts'
import type { Db } from '../../db/db.ts'
import type { User } from '../../db/schema/tables.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Instance } from '../../instance.ts'
import type { Job } from '../../jobs/job.ts'
import { preparePipeline } from './creation.ts'
import type { PipelineRequest } from './pipeline_request.ts'
import { findEnds, type MergeRequestEnds } from './merge_request_facts.ts'
import { insertPrepared, insertRefused } from './pipeline_insertion.ts'
import { holdPipelines } from '../turn.ts'

const FROM_FORKS = 'ci_allow_fork_pipelines_to_run_in_parent_project'

/**
 * The project that a pipeline of the merge request runs in for a user, as published: the one that is merged into where
 * the user may create pipelines there, else the fork.
 */
async function projectFor(db: Db, ends: MergeRequestEnds, user: User): Promise<Project | undefined> {
  const target = await findProjectAs(db, ends.project_id, user.id)
  if (target === undefined || ends.source_project_id === ends.project_id) return target
  const runsHere = target.settings[FROM_FORKS] !== false && (user.admin || target.role >= ROLES.developer)
  if (runsHere || ends.source_project_id === null) return target
  return findProjectAs(db, ends.source_project_id, user.id)
}

/** The request for a pipeline of the merge request's head; undefined where no job of it could run. */
export async function requestFor(db: Db, id: number, user: User): Promise<PipelineRequest | undefined> {
  const ends = await findEnds(db, id)
  const project = ends && (await projectFor(db, ends, user))
  if (ends === undefined || project === undefined) return undefined
  const ref = project.id === ends.project_id ? `refs/merge-requests/${ends.iid}/head` : ends.source_branch
  const source = 'merge_request_event' as const
  return { project, user, ref, sha: ends.head_sha, source, variables: [], merge_request: ends }
}

const existing = statement(
  (p: Slots<{ id: number; sha: string }>) => sql<object>`
    select from pipelines where merge_request_id = ${p.id} and sha = ${p.sha} limit 1`,
)

/** Creates the pipeline of a merge request's head, unless it has one. Rules that select no job create none. */
async function createFor(instance: Instance, id: number, user: User): Promise<void> {
  const { db } = instance
  const request = await requestFor(db, id, user)
  if (request?.sha === undefined) return
  const wanted = { id, sha: request.sha }
  if ((await db.one(existing, wanted)) !== undefined) return
  const outcome = await preparePipeline(instance, request)
  await db.transaction(async (tx) => {
    await holdPipelines(tx, [request.project.id])
    if ((await tx.one(existing, wanted)) !== undefined) return
    if ('prepared' in outcome) await insertPrepared(tx, instance, outcome.prepared)
    else await insertRefused(tx, request, outcome.refusal)
  })
}

/** Creates the first pipeline of a merge request, in the name of the user who opened it. */
export const createFirstPipeline: Job<NewMergeRequest> = {
  ...newMergeRequest,
  run: async (instance, { merge_request_id, user_id }) => {
    const user = await users.find(instance.db, user_id)
    if (user !== undefined) await createFor(instance, merge_request_id, user)
  },
}

/** Creates pipelines for the open merge requests from a branch that a user pushed. */
export async function createForBranch(
  instance: Instance,
  { project_id, branch, sha }: { readonly project_id: number; readonly branch: string; readonly sha: string },
  user: User,
): Promise<void> {
  const found = await openRequests(instance.db, { id: project_id }, [branch])
  for (const request of found) {
    if (request.source_project_id !== project_id || request.source_branch !== branch) continue
    // The row may not have heard of the push yet.
    if (request.head_sha !== sha) await compareAgain.run(instance, { id: request.id })
    await createFor(instance, request.id, user)
  }
}
