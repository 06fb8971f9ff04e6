import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import type { Alert, AlertStatus } from '../db/schema/alerts.ts'
import { statement, statements, type Slots } from '../db/statement.ts'
import { containing } from '../db/text.ts'

// Alerts as people list and change them.

/** An alert with the iid of its incident, where the project has it. */
export interface AlertShown extends Alert {
  readonly issue_iid: number | null
}
const COLUMNS = sql`
  a.*, (select i.iid from issues i where i.id = a.issue_id and i.project_id = a.project_id) as issue_iid`

interface Filter {
  readonly project_id: number
  readonly status: AlertStatus | null
  readonly environment: string | null
  readonly search: string
  readonly limit: number
}
const listStatement = statements<
  { searched: boolean; filtered: boolean; placed: boolean },
  Filter,
  AlertShown
>(
  (p, { searched, filtered, placed }) => sql<AlertShown>`
    select ${COLUMNS} from alerts a
     where a.project_id = ${p.project_id}
       ${filtered ? sql`and a.status = ${p.status}` : sql``}
       ${placed ? sql`and a.environment = ${p.environment}` : sql``}
       ${searched ? sql`and concat_ws(' ', a.title, a.description, a.monitoring_tool, a.service) ilike ${p.search}` : sql``}
     order by a.started_at desc, a.id desc limit ${p.limit}`,
)

interface Wanted {
  readonly status?: AlertStatus
  readonly search?: string
  readonly environment?: string
  readonly limit: number
}
/** Alerts of a project, the latest start first. The search looks at title, description, monitoring tool and service. */
export const list = (
  db: Db,
  projectId: number,
  { status, search, environment, limit }: Wanted,
): Promise<AlertShown[]> => {
  const shape = {
    searched: search !== undefined,
    filtered: status !== undefined,
    placed: environment !== undefined,
  }
  return db.rows(listStatement(shape), {
    project_id: projectId,
    status: status ?? null,
    environment: environment ?? null,
    search: containing(search ?? ''),
    limit,
  })
}

const findStatement = statement(
  (p: Slots<{ project_id: number; iid: number }>) =>
    sql<AlertShown>`select ${COLUMNS} from alerts a where a.project_id = ${p.project_id} and a.iid = ${p.iid}`,
)
export const find = (db: Db, projectId: number, iid: number): Promise<AlertShown | undefined> =>
  db.one(findStatement, { project_id: projectId, iid })

const statusStatement = statement(
  (p: Slots<{ project_id: number; iid: number; status: AlertStatus }>) => sql<AlertShown>`
    update alerts a
       set status = ${p.status}, updated_at = now(),
           ended_at = case when ${p.status} = 'resolved' then coalesce(ended_at, now()) end
     where project_id = ${p.project_id} and iid = ${p.iid}
    returning ${COLUMNS}`,
)

/** Changes the status of an alert. Violates `alerts_unresolved` when a newer one took the place of a resolved alert. */
export const setStatus = async (
  db: Db,
  projectId: number,
  iid: number,
  status: AlertStatus,
): Promise<AlertShown | undefined> =>
  (await db.rows(statusStatement, { project_id: projectId, iid, status }))[0]
