import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { digestOf } from '../../access/tokens.ts'
import type { AuditEvent } from '../../core/settings/audit.ts'
import type { Db } from '../../db/db.ts'
import type { Project } from '../../db/schema/tables.ts'
import type { Runner } from '../../db/schema/ci.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import type { TriggerTokenWithOwner } from '../../records/pipelines/trigger_token.ts'
import { authorJson } from '../../records/people/user.ts'

const byDigest = statement(
  (p: Slots<{ digest: Buffer }>) => sql<TriggerTokenWithOwner>`
    select t.*, ${authorJson(sql`t.owner_id`)} as owner from trigger_tokens t where t.digest = ${p.digest}`,
)
export const findTriggerToken = (db: Db, digest: Buffer): Promise<TriggerTokenWithOwner | undefined> =>
  db.one(byDigest, { digest })

const projectPath = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('projects').select(['id', 'full_path']).where('id', '=', p.id),
)
export const findProjectPath = (db: Db, id: number): Promise<Pick<Project, 'id' | 'full_path'> | undefined> =>
  db.one(projectPath, { id })

const projectOfRunner = statement(
  (p: Slots<{ id: number }>) => sql<{ project_id: number }>`
    select project_id from ci_runner_projects where runner_id = ${p.id} order by created_at, project_id limit 1`,
)
/** The group or the first project of a runner; undefined for one of the instance. */
export async function placeOfRunner(
  db: Db,
  { id, group_id }: Pick<Runner, 'id' | 'group_id'>,
): Promise<AuditEvent['entity'] | undefined> {
  if (group_id !== null) return { type: 'Group', id: group_id }
  const found = await db.one(projectOfRunner, { id })
  return found && { type: 'Project', id: found.project_id }
}

const setDigest = statement(
  (p: Slots<{ id: number; digest: Buffer }>) =>
    sql`update ci_runners set digest = ${p.digest} where id = ${p.id}`,
)
/** Replaces the token of a runner by one that is told to nobody. */
export const resetRunnerToken = (db: Db, id: number): Promise<number> =>
  db.run(setDigest, { id, digest: digestOf(randomBytes(32).toString('hex')) })
