import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import type { Alert, AlertStatus } from '../db/schema_alerts.ts'
import { statement, statements, type Slots } from '../db/statement.ts'
import { containing } from '../db/text.ts'

// Alerts as people list and change them.

interface Filter {
  readonly project_id: number
  readonly status: AlertStatus | null
  readonly search: string
  readonly limit: number
}
const listStatement = statements<{ searched: boolean; filtered: boolean }, Filter, Alert>(
  (p, { searched, filtered }) => sql<Alert>`
    select * from alerts a
     where a.project_id = ${p.project_id}
       ${filtered ? sql`and a.status = ${p.status}` : sql``}
       ${searched ? sql`and concat_ws(' ', a.title, a.description, a.monitoring_tool, a.service) ilike ${p.search}` : sql``}
     order by a.started_at desc, a.id desc limit ${p.limit}`,
)

/** Alerts of a project, the latest start first. The search looks at title, description, monitoring tool and service. */
export const list = (
  db: Db,
  projectId: number,
  { status, search, limit }: { status?: AlertStatus; search?: string; limit: number },
): Promise<Alert[]> =>
  db.rows(listStatement({ searched: search !== undefined, filtered: status !== undefined }), {
    project_id: projectId,
    status: status ?? null,
    search: containing(search ?? ''),
    limit,
  })

const findStatement = statement(
  (p: Slots<{ project_id: number; iid: number }>) =>
    sql<Alert>`select * from alerts where project_id = ${p.project_id} and iid = ${p.iid}`,
)
export const find = (db: Db, projectId: number, iid: number): Promise<Alert | undefined> =>
  db.one(findStatement, { project_id: projectId, iid })

const statusStatement = statement(
  (p: Slots<{ project_id: number; iid: number; status: AlertStatus }>) => sql<Alert>`
    update alerts
       set status = ${p.status}, updated_at = now(),
           ended_at = case when ${p.status} = 'resolved' then coalesce(ended_at, now()) end
     where project_id = ${p.project_id} and iid = ${p.iid}
    returning *`,
)

/** Changes the status of an alert. Violates `alerts_unresolved` when a newer one took the place of a resolved alert. */
export const setStatus = async (
  db: Db,
  projectId: number,
  iid: number,
  status: AlertStatus,
): Promise<Alert | undefined> => (await db.rows(statusStatement, { project_id: projectId, iid, status }))[0]
