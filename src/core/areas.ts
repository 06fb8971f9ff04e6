import { sql, type RawBuilder } from 'kysely'
import { ROLES, roleInProject } from './roles.ts'

// What a caller belongs to, as a few ranges of addresses: parts of statements whose caller's grants are `mine`.

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

/**
 * `areas`: the topmost groups (and the personal namespace) on which the caller holds that level, all below them being the
 * caller's too, except where `denial` says that something denies. `homes`: the namespaces there, and `vast` whether there
 * are too many of them to walk. `single`: projects outside of those.
 */
export const areasOf = (level: Raw): Raw => sql`
  denial as materialized (select exists (select from mine g where g.access_level = ${sql.lit(ROLES.no_access)}) as denies),
  areas as materialized (
    select distinct n.id, n.full_path from mine g join namespaces n on n.id = g.namespace_id
     where g.access_level >= ${level} and not exists (
       select from mine o where o.access_level >= ${level} and o.namespace_id <> n.id and o.namespace_id = any(n.traversal_ids))),
  homes as materialized (
    select h.id from areas a, lateral (
      select a.id union all
      select d.id from namespaces d where d.kind = 'group' and ${isBelow('d', sql`a.full_path`)}) h limit ${sql.lit(FEW + 1)}),
  vast as materialized (select count(*) > ${sql.lit(FEW)} as many from homes),
  single as materialized (
    select g.project_id as id from mine g join projects gp on gp.id = g.project_id join namespaces n on n.id = gp.namespace_id
     where g.access_level >= ${level} and not exists (select from areas a where a.id = any(n.traversal_ids)))`

/** Whether a project inside what the caller belongs to is the caller's indeed. */
export const undenied = (level: Raw): Raw =>
  sql`(not (select denies from denial) or ${heldOnProject} >= ${level})`
