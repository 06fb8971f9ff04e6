import { sql } from 'kysely'
import { limitOf } from '../../core/settings/plan_limits.ts'
import type { Project } from '../../core/places/projects.ts'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'

/** Pipelines that a user may create for one commit of a project in a minute. */
const MAX_PIPELINES_PER_MINUTE = 25

export const TOO_MANY_PIPELINES = 'Too many pipelines created in the last minute. Try again later.'
export const TOO_MANY_JOBS = 'Project exceeded the allowed number of jobs in active pipelines. Retry later.'

const recent = statement(
  (p: Slots<{ project_id: number; sha: string; user_id: number }>) => sql<{ count: number }>`
    select count(*)::int as count from pipelines
     where project_id = ${p.project_id} and sha = ${p.sha} and user_id = ${p.user_id} and parent_id is null
       and created_at > now() - interval '1 minute'`,
)
/** Whether the user created as many pipelines for the commit as a minute allows. */
export const createsTooFast = async (
  db: Db,
  projectId: number,
  userId: number,
  sha: string,
): Promise<boolean> =>
  ((await db.one(recent, { project_id: projectId, sha, user_id: userId }))?.count ?? 0) >=
  MAX_PIPELINES_PER_MINUTE

const activeJobs = statement(
  (p: Slots<{ project_id: number }>) => sql<{ count: number }>`
    select count(*)::int as count from pipelines p join ci_jobs j on j.pipeline_id = p.id
     where p.project_id = ${p.project_id} and p.created_at > now() - interval '1 day'
       and p.status in ('created', 'waiting_for_resource', 'preparing', 'waiting_for_callback', 'pending', 'running')`,
)
/** Whether the jobs of the project's active pipelines of a day reach the limit of its plan. */
export async function hasTooManyJobs(db: Db, project: Project): Promise<boolean> {
  const limit = await limitOf(db, project, 'ci_active_jobs')
  if (limit === Infinity) return false
  return ((await db.one(activeJobs, { project_id: project.id }))?.count ?? 0) >= limit
}
