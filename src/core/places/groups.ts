import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { recordGroups } from './place_events.ts'
import { q, statement, type Slots } from '../../db/statement.ts'

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
  readonly description?: string
  readonly settings?: object
  /** The creator. */
  readonly by?: number
}

const insertGroup = statement(
  (
    p: Slots<{
      parent_id: number | null
      name: string
      path: string
      visibility: string
      runners_token: Buffer
      description: string
      settings: string
    }>,
  ) =>
    sql<Namespace>`
    with parent as materialized (select * from namespaces where id = ${p.parent_id} for share)
    insert into namespaces
      (id, kind, parent_id, name, path, full_name, full_path, traversal_ids, visibility, runners_token, description,
       settings)
    overriding system value
    select fresh.id, 'group', parent.id, ${p.name}, ${p.path},
           concat_ws(' / ', parent.full_name, ${p.name}::text), concat_ws('/', parent.full_path, ${p.path}::text),
           coalesce(parent.traversal_ids, '{}') || fresh.id, ${p.visibility}, ${p.runners_token}, ${p.description},
           ${p.settings}::jsonb
      from (select nextval(pg_get_serial_sequence('namespaces', 'id')) as id) fresh
      left join parent on true
     where ${p.parent_id}::bigint is null or parent.id is not null
    returning *`,
)
const byFullPath = statement((p: Slots<{ full_path: string }>) =>
  q
    .selectFrom('namespaces')
    .selectAll()
    .where(sql`lower(full_path)`, '=', sql`lower(${p.full_path})`),
)

const share = statement(
  (p: Slots<{ id: number }>) => sql<Namespace>`select * from namespaces where id = ${p.id} for share`,
)

/** A namespace that stays where and what it is until the transaction ends; undefined when it is gone. */
export const holdNamespace = (tx: Db, id: number): Promise<Namespace | undefined> => tx.one(share, { id })

/** Inserts a group below its parent. Call inside a transaction. A path that is taken violates `routes_pkey`. */
export async function create(db: Db, group: NewGroup): Promise<Namespace> {
  const { parent, by = null, description = '', settings = {}, ...values } = group
  const row = await db.insert(insertGroup, {
    ...values,
    parent_id: parent?.id ?? null,
    description,
    settings: JSON.stringify(settings),
  })
  await recordGroups(db, 'create', [row], by)
  return row
}

/** A group or a personal namespace, by its full path in any letter case. */
export const findByPath = (db: Db, fullPath: string): Promise<Namespace | undefined> =>
  db.one(byFullPath, { full_path: fullPath })
