import { createHash, randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { paged, pageStatement, type Listed } from '../db/pages.ts'
import type { ErrorTrackingClientKey } from '../db/schema/errors.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { Instance } from '../instance.ts'

const CLIENT_KEY_PREFIX = 'glet_'

const digestOf = (key: string): Buffer => createHash('sha256').update(key).digest()

const listStatement = pageStatement((p: Slots<{ project_id: number; limit: number; offset: number }>) =>
  paged(
    sql<ErrorTrackingClientKey>`
      select * from error_tracking_client_keys where project_id = ${p.project_id}
       order by id limit ${p.limit} offset ${p.offset}`,
    sql`select from error_tracking_client_keys where project_id = ${p.project_id}`,
  ),
)
export const list = (
  db: Db,
  projectId: number,
  page: { limit: number; offset: number },
): Promise<Listed<ErrorTrackingClientKey>> => db.page(listStatement, { project_id: projectId, ...page })

const findStatement = statement(
  (p: Slots<{ project_id: number; id: number }>) => sql<ErrorTrackingClientKey>`
    select * from error_tracking_client_keys where project_id = ${p.project_id} and id = ${p.id}`,
)
export const find = (db: Db, projectId: number, id: number): Promise<ErrorTrackingClientKey | undefined> =>
  db.one(findStatement, { project_id: projectId, id })

/** A key as the collector finds it, with whether its project collects errors. */
export interface CollectorKey {
  readonly project_id: number
  readonly collects: boolean
}
const collectorStatement = statement(
  (p: Slots<{ project_id: number; digest: Buffer }>) => sql<CollectorKey>`
    select k.project_id, k.active and s.active and s.integrated and not p.archived as collects
      from error_tracking_client_keys k
      join projects p on p.id = k.project_id
      join error_tracking_settings s on s.project_id = k.project_id
     where k.project_id = ${p.project_id} and k.digest = ${p.digest}`,
)
/** Finds a key of a project by its text. */
export const findForCollector = (db: Db, projectId: number, key: string): Promise<CollectorKey | undefined> =>
  db.one(collectorStatement, { project_id: projectId, digest: digestOf(key) })

const insertStatement = statement(
  (p: Slots<{ project_id: number; digest: Buffer; sealed: Buffer }>) => sql<ErrorTrackingClientKey>`
    insert into error_tracking_client_keys (project_id, digest, sealed)
    values (${p.project_id}, ${p.digest}, ${p.sealed}) returning *`,
)

/** Makes a key of 32 hex digits behind its prefix. */
export async function create(
  { db, vault }: Pick<Instance, 'db' | 'vault'>,
  projectId: number,
): Promise<ErrorTrackingClientKey> {
  const key = CLIENT_KEY_PREFIX + randomBytes(16).toString('hex')
  return db.insert(insertStatement, {
    project_id: projectId,
    digest: digestOf(key),
    sealed: vault.seal(key),
  })
}

const removeStatement = statement(
  (p: Slots<{ project_id: number; id: number }>) =>
    sql`delete from error_tracking_client_keys where project_id = ${p.project_id} and id = ${p.id}`,
)
export const remove = (db: Db, projectId: number, id: number): Promise<void> =>
  db.remove(removeStatement, { project_id: projectId, id })
