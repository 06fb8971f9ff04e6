import { sql } from 'kysely'
import { ROLES, heldBy, roleInNamespace, roleInProject } from '../core/sight/roles.ts'
import { plansWith } from '../core/settings/plans.ts'
import type { VulnerabilityExport } from '../db/schema/vulnerabilities.ts'
import { statement, type Slots, type Sql } from '../db/statement.ts'
import type { Instance } from '../instance.ts'

// Which projects an export covers, and who may still read one: both by the roles of this moment.

const developer = sql.lit(ROLES.developer)
const roleOnProject = sql`coalesce(${roleInProject(sql`mine`, sql`p.id`, sql`n.traversal_ids`)}, 0)`

const scopeStatement = statement(
  (p: Slots<{ id: number; plans: readonly string[] | null }>) => sql<{ project_id: number }>`
    with e as materialized (
      select x.*, u.admin, g.traversal_ids from vulnerability_exports x
        join users u on u.id = x.author_id
        left join namespaces g on g.id = x.group_id
       where x.id = ${p.id}),
    mine as materialized (select g.* from e, lateral ${heldBy(sql`e.author_id`)} g),
    wanted as materialized (
      select e.project_id as id from e where e.project_id is not null
      union all
      select p.id from e join namespaces n on n.traversal_ids @> array[e.group_id] join projects p on p.namespace_id = n.id
      union all
      select d.project_id from e join security_dashboard_projects d on d.user_id = e.author_id
       where e.project_id is null and e.group_id is null)
    select p.id as project_id
      from e, wanted join projects p on p.id = wanted.id join namespaces n on n.id = p.namespace_id
      join namespaces root on root.id = n.traversal_ids[1]
     where (e.admin or ${roleOnProject} >= ${developer})
       and (${p.plans}::text[] is null or root.plan = any(${p.plans}::text[]))
     order by p.id`,
)

/** The plans that bring exports; null where the licence of the instance alone decides. */
const neededPlans = (settings: Instance['settings']): readonly string[] | null =>
  settings.get('offering') === 'hosted' ? plansWith('ultimate') : null

/**
 * The ids of the projects that an export covers: those of its scope in which its author is at least a Developer, on the
 * hosted offering those whose plan brings exports.
 */
export async function projectsOf(
  { db, settings }: Pick<Instance, 'db' | 'settings'>,
  id: number,
): Promise<number[]> {
  return (await db.rows(scopeStatement, { id, plans: neededPlans(settings) })).map(
    ({ project_id }) => project_id,
  )
}

const groupRole = sql`coalesce(${roleInNamespace(sql`mine`, sql`home.traversal_ids`)}, 0)`

/** An export, and whether its reader is still at least a Developer of all it covers, and its plans still bring exports. */
export type ReadExport = VulnerabilityExport & { readonly may_read: boolean }

/** The interval after which an export is deleted, as SQL. */
export const LIFETIME = sql`interval '1 hour'`

const lacksPlan = (root: Sql, plans: Sql): Sql =>
  sql`${plans}::text[] is not null and ${root}.plan <> all(${plans}::text[])`

interface Reader {
  readonly id: number
  readonly user_id: number
  readonly plans: readonly string[] | null
}
const findStatement = statement(
  (p: Slots<Reader>) => sql<ReadExport>`
    with mine as (select g.* from ${heldBy(p.user_id)} g)
    select e.*,
           (e.group_id is null or u.admin or ${groupRole} >= ${developer})
             and not exists (
               select from namespaces root
                where root.id = home.traversal_ids[1] and ${lacksPlan(sql`root`, sql`${p.plans}`)})
             and not exists (
               select from projects p
                 join namespaces n on n.id = p.namespace_id
                 join namespaces root on root.id = n.traversal_ids[1]
                where p.id = any(e.project_ids || e.project_id)
                  and (not u.admin and ${roleOnProject} < ${developer} or ${lacksPlan(sql`root`, sql`${p.plans}`)})) as may_read
      from vulnerability_exports e
      join users u on u.id = ${p.user_id}
      left join namespaces home on home.id = e.group_id
     where e.id = ${p.id} and e.created_at > now() - ${LIFETIME}`,
)

/** An export younger than an hour, with what the user may do with it. */
export const findExport = (
  { db, settings }: Pick<Instance, 'db' | 'settings'>,
  key: { readonly id: number; readonly user_id: number },
): Promise<ReadExport | undefined> => db.one(findStatement, { ...key, plans: neededPlans(settings) })
