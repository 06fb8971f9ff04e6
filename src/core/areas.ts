import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/client.ts'
import { statements, type Slots } from '../db/statement.ts'
import { lasts } from './expiry.ts'
import { ROLES, heldBy, roleInProject } from './roles.ts'

// What a caller belongs to, as a few ranges of addresses: read first, so that a list is planned for what it will meet.

type Raw = RawBuilder<unknown>

/** What the caller holds on the project `p`; the line above is looked up only where somebody asks. */
export const heldOnProject = sql`coalesce(${roleInProject(
  sql`mine`,
  sql`p.id`,
  sql`(select n.traversal_ids from namespaces n where n.id = p.namespace_id)::bigint[]`,
)}, 0)`

/** Whether the address of `row` stands below that of `above`. A slash is followed by nothing but `0`. */
export const isBelow = (row: string, above: Raw): Raw => {
  const address = sql`lower(${sql.ref(`${row}.full_path`)}) collate "C"`
  return sql`(${address} >= lower(${above}) || '/' and ${address} < lower(${above}) || '0')`
}

/** More namespaces than this are not walked one by one. */
const FEW = 1_000

export interface Belonging {
  /** Every grant, in three columns; 0 where there is none. */
  readonly held_namespaces: readonly number[]
  readonly held_projects: readonly number[]
  readonly held_levels: readonly number[]
  /** Whether a level of 0 is among them, so that what stands below another one may be closed all the same. */
  readonly denies: boolean
  /** Addresses of the topmost groups (and the personal namespace) that hold the level asked for: all below them do. */
  readonly areas: readonly string[]
  /** Their ids. */
  readonly roots: readonly number[]
  /** The namespaces there, as far as they are few. */
  readonly homes: readonly number[]
  readonly many: boolean
  /** Projects outside of those, in the place asked for. */
  readonly single: readonly number[]
  /** Namespaces that are listed besides. */
  readonly besides: readonly number[]
}
/**
 * Which those are: none, those held with Minimal Access, the line above what one is let into as well, or the ones owned by
 * a membership of their own.
 */
export type Besides = 'none' | 'minimal' | 'line' | 'owned'
type Row = Omit<Belonging, 'many' | 'held_levels'> & { readonly held_levels: readonly number[] | null }

const address = (of: Raw): Raw => sql`lower(${of}) || '/'`
const covers = (place: Raw): Raw =>
  sql`coalesce(starts_with(${address(sql`${place}::text`)}, ${address(sql`n.full_path`)}), false)`
const isInside = (place: Raw, path: Raw = sql`n.full_path`): Raw =>
  sql`starts_with(${address(path)}, ${address(sql`${place}::text`)})`

function besidesOf(user: Raw, besides: Besides): Raw {
  const minimal = sql`select g.namespace_id from mine g where g.access_level = ${sql.lit(ROLES.minimal_access)}`
  switch (besides) {
    case 'none':
      return sql`select 0 where false`
    case 'minimal':
      return minimal
    case 'line':
      return sql`${minimal} union
        select unnest(d.traversal_ids) from mine g left join projects gp on gp.id = g.project_id
          join namespaces d on d.id = coalesce(g.namespace_id, gp.namespace_id)
         where g.access_level >= ${sql.lit(ROLES.guest)}
           and not exists (select from mine z where z.access_level = ${sql.lit(ROLES.no_access)}
                            and (z.namespace_id = any(d.traversal_ids) or z.project_id = g.project_id))`
    case 'owned':
      return sql`select m.namespace_id from members m
        where m.user_id = ${user} and m.access_level >= ${sql.lit(ROLES.owner)} and m.namespace_id is not null and ${lasts('m')}`
  }
}

interface Asked {
  readonly user_id: number
  readonly level: number
  readonly place_id: number
  readonly place: string | null
}
const belonging = statements<{ besides: Besides }, Asked, Row>(
  (p: Slots<Asked>, { besides }) => sql<Row>`
    with mine as materialized (select * from ${heldBy(p.user_id)} g),
    topmost as materialized (
      select distinct case when ${covers(p.place)} then ${p.place_id}::bigint else n.id end as id,
             case when ${covers(p.place)} then ${p.place}::text else n.full_path end as full_path
        from mine g join namespaces n on n.id = g.namespace_id
       where g.access_level >= ${p.level} and not exists (
         select from mine o
          where o.access_level >= ${p.level} and o.namespace_id <> n.id and o.namespace_id = any(n.traversal_ids))
         and (${p.place}::text is null or ${covers(p.place)} or ${isInside(p.place)}))
    select array_agg(coalesce(g.namespace_id, 0)) as held_namespaces, array_agg(coalesce(g.project_id, 0)) as held_projects,
           array_agg(g.access_level) as held_levels,
           coalesce(bool_or(g.access_level = ${sql.lit(ROLES.no_access)}), false) as denies,
           array(select a.full_path from topmost a) as areas, array(select a.id from topmost a) as roots,
           array(select h.id from topmost a, lateral (
             select a.id union all
             (select d.id from namespaces d where d.kind = 'group' and ${isBelow('d', sql`a.full_path`)}
               limit ${sql.lit(FEW + 1)})) h limit ${sql.lit(FEW + 1)}) as homes,
           array(select distinct s.project_id from mine s
                   join projects sp on sp.id = s.project_id join namespaces n on n.id = sp.namespace_id
                  where s.access_level >= ${p.level}
                    and (${p.place}::text is null or ${isInside(p.place, sql`sp.full_path`)})
                    and not exists (select from topmost a where a.id = any(n.traversal_ids))) as single,
           array(${besidesOf(p.user_id, besides)}) as besides
      from mine g`,
)

export const NOTHING: Belonging = {
  held_namespaces: [],
  held_projects: [],
  held_levels: [],
  denies: false,
  areas: [],
  roots: [],
  homes: [],
  many: false,
  single: [],
  besides: [],
}

/** A namespace, and its address. */
export interface Place {
  readonly id: number
  readonly path: string
}

/** What the user holds, and where that is at least `level`: anywhere, or in a place and below it. */
export async function belongingOf(
  db: Db,
  userId: number | null,
  level: number,
  { place, besides = 'none' }: { readonly place?: Place | undefined; readonly besides?: Besides } = {},
): Promise<Belonging> {
  if (userId === null) return NOTHING
  const within = { place_id: place?.id ?? 0, place: place?.path ?? null }
  const [row] = await db.rows(belonging({ besides }), { user_id: userId, level, ...within })
  if (row === undefined || row.held_levels === null) return NOTHING
  return Object.assign({ many: row.homes.length > FEW }, row, { held_levels: row.held_levels })
}

/** The grants as `mine`, for a statement that was given them. */
export const mineFrom = (p: {
  readonly [Name in 'held_namespaces' | 'held_projects' | 'held_levels']: Raw
}): Raw => sql`mine as materialized (
  select nullif(g.namespace_id, 0) as namespace_id, nullif(g.project_id, 0) as project_id, g.access_level
    from unnest(${p.held_namespaces}::bigint[], ${p.held_projects}::bigint[], ${p.held_levels}::int[])
    as g (namespace_id, project_id, access_level))`
