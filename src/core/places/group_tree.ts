import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { violates } from '../../db/errors.ts'
import type { Namespace } from '../../db/schema/tables.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { tooLong } from '../values/lengths.ts'
import { recordGroups } from './place_events.ts'
import { removeProjectsBelow } from './project_removal.ts'
import { VISIBILITIES } from '../values/visibilities.ts'

// Groups form a tree, and each of them and each project keeps its whole address. Who puts something into a group holds
// the group's row for share meanwhile; who moves, renames or deletes a group holds every row below it.

const ranks = sql`array[${sql.join(VISIBILITIES.map((name) => sql.lit(name)))}]`

const oneAtATime = statement(() => sql`select pg_advisory_xact_lock(7163021)`)
const below = (id: RawBuilder<unknown>): RawBuilder<unknown> => sql`
  (select d.id from namespaces d where d.traversal_ids @> array[${id}::bigint] offset 0)`
const holdBelow = statement(
  (p: Slots<{ id: number }>) => sql<{ id: number }>`
    select n.id from namespaces n where n.id in ${below(p.id)} order by n.id for no key update`,
)

/**
 * Holds a group and every group below it, so that until the transaction ends nothing is put into any of them. Trees are
 * held one at a time: two that would move into each other come one after the other. The ids; none when it is gone.
 */
export async function holdTree(tx: Db, id: number): Promise<number[]> {
  await tx.run(oneAtATime, {})
  // Records inserted while the locks were awaited are locked in the next round.
  for (let held = -1; ;) {
    const rows = await tx.rows(holdBelow, { id })
    if (rows.length === held) return rows.map((row) => row.id)
    held = rows.length
  }
}

interface Spot {
  readonly id: number
  readonly parent_id: number | null
  readonly name: string
  readonly path: string
}

const place = statement(
  (p: Slots<Spot>) => sql<Namespace>`
    with spot as (
      select old.id, parent.id as parent_id, coalesce(parent.traversal_ids, '{}') as line,
             concat_ws('/', parent.full_path, ${p.path}::text) as full_path,
             concat_ws(' / ', parent.full_name, ${p.name}::text) as full_name,
             length(old.full_path) + 1 as path_from, length(old.full_name) + 1 as name_from,
             cardinality(old.traversal_ids) as depth,
             coalesce(array_position(${ranks}, parent.visibility), 3) as widest
        from namespaces old left join namespaces parent on parent.id = ${p.parent_id}
       where old.id = ${p.id}
    ), moved as (
      update namespaces d
         set parent_id = case when d.id = spot.id then spot.parent_id else d.parent_id end,
             name = case when d.id = spot.id then ${p.name} else d.name end,
             path = case when d.id = spot.id then ${p.path} else d.path end,
             full_path = spot.full_path || substr(d.full_path, spot.path_from),
             full_name = spot.full_name || substr(d.full_name, spot.name_from),
             traversal_ids = spot.line || d.traversal_ids[spot.depth:],
             visibility = (${ranks})[least(array_position(${ranks}, d.visibility), spot.widest)],
             updated_at = case when d.id = spot.id then now() else d.updated_at end
        from spot
       where d.id in ${below(p.id)}
      returning d.*, spot.widest
    ), carried as (
      update projects p
         set full_path = moved.full_path || '/' || p.path,
             visibility = (${ranks})[least(array_position(${ranks}, p.visibility), moved.widest)]
        from moved where p.namespace_id = moved.id
    )
    select * from moved where id = ${p.id}`,
)

/**
 * Puts a group that is held to where `spot` says, with all that is below it, none of it seen by more than see the new
 * parent. An address that is taken violates `routes_pkey` or `namespaces_full_path_key`.
 */
export async function placeGroup(tx: Db, spot: Spot): Promise<Namespace> {
  return tx.update(place, spot)
}

const removeNamespaces = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<Namespace>`
    delete from namespaces where id = any(${p.ids}::bigint[]) returning *`,
)

/** Deletes a group with all that is below it; repositories go once the transaction has ended. */
export async function removeTree(tx: Db, id: number, by: number | null): Promise<void> {
  const ids = await holdTree(tx, id)
  await removeProjectsBelow(tx, id, by)
  const gone = await tx.rows(removeNamespaces, { ids })
  await recordGroups(tx, 'destroy', gone, by)
}

const ADDRESSES = ['routes_pkey', 'namespaces_full_path_key', 'projects_full_path_key']

/** Characters of the whole address of a group: an index holds it twice. */
const LONGEST_ADDRESS = 500
/** The published texts of `error` about a group's path; undefined when it is about something else. */
export function addressFaults(error: unknown): Record<string, string[]> | undefined {
  if (isTaken(error)) return { path: ['has already been taken'] }
  return violates(error, 'namespaces_full_path_fits') ? { full_path: [tooLong(LONGEST_ADDRESS)] } : undefined
}

/** True when `error` says that another namespace or project has the address. */
export const isTaken = (error: unknown): boolean => ADDRESSES.some((name) => violates(error, name))
