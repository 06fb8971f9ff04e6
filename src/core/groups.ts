import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import type { Namespace, Visibility } from '../db/schema.ts'
import { q, statement, type Slots } from '../db/statement.ts'

/** A group with what the caller holds on it. */
export type Group = Namespace & {
  /** 0 when the caller holds nothing, or was denied. */
  readonly role: number
}

export interface NewGroup {
  readonly parent: Pick<Namespace, 'id'> | undefined
  readonly name: string
  readonly path: string
  readonly visibility: Visibility
  readonly runners_token: Buffer
}

const insertGroup = statement(
  (
    p: Slots<{
      parent_id: number | null
      name: string
      path: string
      visibility: string
      runners_token: Buffer
    }>,
  ) =>
    sql<Namespace>`
    insert into namespaces
      (id, kind, parent_id, name, path, full_name, full_path, traversal_ids, visibility, runners_token)
    overriding system value
    select fresh.id, 'group', parent.id, ${p.name}, ${p.path},
           concat_ws(' / ', parent.full_name, ${p.name}::text), concat_ws('/', parent.full_path, ${p.path}::text),
           coalesce(parent.traversal_ids, '{}') || fresh.id, ${p.visibility}, ${p.runners_token}
      from (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id) fresh
      left join namespaces parent on parent.id = ${p.parent_id}
    returning *`,
)
const byFullPath = statement((p: Slots<{ full_path: string }>) =>
  q
    .selectFrom('namespaces')
    .selectAll()
    .where(sql`lower(full_path)`, '=', sql`lower(${p.full_path})`),
)

/** Inserts a group below its parent. Call inside a transaction. A path that is taken violates `routes_pkey`. */
export async function create(db: Db, group: NewGroup): Promise<Namespace> {
  const { parent, ...values } = group
  const row = await db.one(insertGroup, { ...values, parent_id: parent?.id ?? null })
  if (row === undefined) throw new Error('a group was not inserted')
  return row
}

/** A group or a personal namespace, by its full path in any letter case. */
export const findByPath = (db: Db, fullPath: string): Promise<Namespace | undefined> =>
  db.one(byFullPath, { full_path: fullPath })
