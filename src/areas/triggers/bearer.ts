import { sql } from 'kysely'
import { findJobByToken } from '../../ci/runners/runners.ts'
import { findProjectAs } from '../../core/places/project_roles.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES, canSee } from '../../core/sight/roles.ts'
import * as users from '../../core/people/users.ts'
import type { Db } from '../../db/db.ts'
import type { User } from '../../db/schema/tables.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { Problem } from '../../http/problems.ts'

/** In whose name a token starts a pipeline. */
export interface TriggerBearer {
  /** With the role that the user holds on it now. */
  readonly project: Project
  readonly user: User
  /** Of the trigger token. */
  readonly tokenId?: number
  /** Of the job whose token it is. */
  readonly jobId?: number
}

const byDigest = statement(
  (p: Slots<{ digest: Buffer; project_id: number }>) => sql<{ id: number; owner_id: number | null }>`
    select id, owner_id from trigger_tokens where digest = ${p.digest} and project_id = ${p.project_id}`,
)

/** The token's bearer, where it opens the project; throws 401 for the token of a job that does not run. */
export async function bearerOf(
  db: Db,
  digest: Buffer,
  projectId: number,
): Promise<TriggerBearer | undefined> {
  const token = await db.one(byDigest, { digest, project_id: projectId })
  if (token !== undefined) {
    const found = token.owner_id === null ? undefined : await actingOn(db, projectId, token.owner_id)
    return found && { ...found, tokenId: token.id }
  }
  const job = await findJobByToken(db, digest)
  if (job === undefined) return undefined
  if (job.erased_at !== null) throw new Problem(401, { message: 'Job has been erased!' })
  if (job.status !== 'running' && job.status !== 'canceling')
    throw new Problem(401, { message: 'Job is not running' })
  const found = job.user_id === null ? undefined : await actingOn(db, projectId, job.user_id)
  if (found === undefined) return undefined
  const { user, project } = found
  return canSee(user, project.visibility, project.role, ROLES.guest) ? { ...found, jobId: job.id } : undefined
}

async function actingOn(
  db: Db,
  projectId: number,
  userId: number,
): Promise<{ project: Project; user: User } | undefined> {
  const [project, user] = [await findProjectAs(db, projectId, userId), await users.find(db, userId)]
  return project && user && { project, user }
}
