import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import type { VulnerabilityExport } from '../db/schema/vulnerabilities.ts'
import { statement, type Slots } from '../db/statement.ts'

export type ListedExport = Pick<
  VulnerabilityExport,
  'id' | 'status' | 'row_count' | 'size' | 'attempts' | 'created_at' | 'finished_at'
> & { readonly author: string; readonly scope: string }

const listStatement = statement(
  (p: Slots<{ limit: number }>) => sql<ListedExport>`
    select e.id, e.status, e.row_count, e.size, e.attempts, e.created_at, e.finished_at, u.username as author,
           coalesce(p.full_path, g.full_path, 'dashboard') as scope
      from vulnerability_exports e
      join users u on u.id = e.author_id
      left join projects p on p.id = e.project_id
      left join namespaces g on g.id = e.group_id
     order by e.id desc limit ${p.limit}`,
)
/** The last exports of the instance with the rows written so far, the newest first. */
export const listExports = (db: Db, limit: number): Promise<ListedExport[]> =>
  db.rows(listStatement, { limit })
