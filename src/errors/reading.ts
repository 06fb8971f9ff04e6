import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, statements, type Slots } from '../db/statement.ts'

// Errors as people list and change them.

export type ErrorStatus = 'unresolved' | 'resolved' | 'ignored'
export interface CollectedError {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly actor: string
  readonly platform: string | null
  readonly level: string
  readonly status: ErrorStatus
  readonly events: number
  readonly users: number
  readonly releases: readonly string[]
  readonly first_seen_at: Date
  readonly last_seen_at: Date
}

const COLUMNS = sql`
  e.id, e.name, e.description, e.actor, e.platform, e.level, e.status, e.events, e.first_seen_at, e.last_seen_at,
  (select count(*)::int from error_users u where u.error_id = e.id) as users,
  array(select r.release from error_releases r where r.error_id = e.id order by r.last_seen_at desc, r.release) as releases`

const listStatement = statements<
  { filtered: boolean },
  { project_id: number; status: ErrorStatus | null; limit: number },
  CollectedError
>(
  (p, { filtered }) => sql<CollectedError>`
    select ${COLUMNS} from errors e
     where e.project_id = ${p.project_id} ${filtered ? sql`and e.status = ${p.status}` : sql``}
     order by e.last_seen_at desc, e.id desc limit ${p.limit}`,
)
/** Errors of a project, the last seen first. */
export const list = (
  db: Db,
  projectId: number,
  { status, limit }: { status?: ErrorStatus; limit: number },
): Promise<CollectedError[]> =>
  db.rows(listStatement({ filtered: status !== undefined }), {
    project_id: projectId,
    status: status ?? null,
    limit,
  })

const findStatement = statement(
  (p: Slots<{ project_id: number; id: number }>) => sql<CollectedError>`
    select ${COLUMNS} from errors e where e.project_id = ${p.project_id} and e.id = ${p.id}`,
)
export const find = (db: Db, projectId: number, id: number): Promise<CollectedError | undefined> =>
  db.one(findStatement, { project_id: projectId, id })

const latestStatement = statement(
  (p: Slots<{ id: number }>) => sql<{ payload: unknown }>`
    select payload from error_events where error_id = ${p.id} order by occurred_at desc limit 1`,
)
/** The payload of the latest event that is still kept, as it was sent. */
export const latestEvent = async (db: Db, id: number): Promise<unknown> =>
  (await db.one(latestStatement, { id }))?.payload

const statusStatement = statement(
  (p: Slots<{ project_id: number; id: number; status: ErrorStatus }>) => sql`
    update errors set status = ${p.status} where project_id = ${p.project_id} and id = ${p.id}`,
)
/** Returns the number of errors changed: 0 when the project has no such error. */
export const setStatus = (db: Db, projectId: number, id: number, status: ErrorStatus): Promise<number> =>
  db.run(statusStatement, { project_id: projectId, id, status })
