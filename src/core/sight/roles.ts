import { sql, type RawBuilder } from 'kysely'
import type { Visibility } from '../../db/schema/columns.ts'

/** The published access levels. 0 takes every right away, 5 shows a group and nothing in it. */
export const ROLES = {
  no_access: 0,
  minimal_access: 5,
  guest: 10,
  planner: 15,
  reporter: 20,
  developer: 30,
  maintainer: 40,
  owner: 50,
} as const
export type RoleName = keyof typeof ROLES

/** Published names of the levels. */
export const ROLE_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(ROLES).map(([name, level]) => [
    level as number,
    name[0]?.toUpperCase() + name.slice(1).replace('_', ' '),
  ]),
)

type Sql<T> = RawBuilder<T>

/** Rows of (namespace_id, project_id, access_level): everything one user holds, after expiry. */
export const heldBy = (user: Sql<unknown>): Sql<unknown> =>
  sql`(select namespace_id, project_id, access_level from grants where user_id = ${user})`

/** The same where it is seldom asked: planned with the database's function, not with the statement. */
export const seldomHeldBy = (user: Sql<unknown>): Sql<unknown> =>
  sql`(select namespace_id, project_id, access_level from grants_of(${user}))`

const strongest = sql`case when min(g.access_level) = 0 then 0 else max(g.access_level) end`

/** The level `held` comes to on the namespace whose line of ids is `line`: the highest, unless one denies. */
export const roleInNamespace = (held: Sql<unknown>, line: Sql<unknown>): Sql<number | null> => sql`(
  select ${strongest} from ${held} g
   where g.namespace_id = any(${line})
     and (g.access_level <> ${sql.lit(ROLES.minimal_access)} or g.namespace_id = (${line})[cardinality(${line})]))`

/** The level `held` comes to on a project: on its namespace's line, or on the project itself. */
export const roleInProject = (
  held: Sql<unknown>,
  project: Sql<unknown>,
  line: Sql<unknown>,
): Sql<number | null> => sql`(
  select ${strongest} from ${held} g
   where g.access_level <> ${sql.lit(ROLES.minimal_access)}
     and (g.namespace_id = any(${line}) or g.project_id = ${project}))`

/** Whether `held` lets into anything below the namespace `id`, and nothing on the way denies: that shows the namespace too. */
export const belongsBelow = (held: Sql<unknown>, id: Sql<unknown>): Sql<boolean> => sql`exists (
  select from ${held} g
    left join projects gp on gp.id = g.project_id
    join namespaces gn on gn.id = coalesce(g.namespace_id, gp.namespace_id)
   where g.access_level >= ${sql.lit(ROLES.guest)} and gn.traversal_ids @> array[${id}]
     and not exists (select from ${held} z
                      where z.access_level = 0
                        and (z.namespace_id = any(gn.traversal_ids) or z.project_id = g.project_id)))`

/**
 * The namespaces from `id` down, one id each. Fenced: PostgreSQL takes an array that holds an unknown id for common,
 * and would rather read the whole table than ask the index.
 */
export const below = (id: Sql<unknown>): Sql<unknown> =>
  sql`lateral (select d.id from namespaces d where d.traversal_ids @> array[${id}] offset 0)`

/** The namespace of the project `p`, fenced in the same way. */
export const homeOf = sql`lateral (select n.traversal_ids from namespaces n where n.id = p.namespace_id offset 0)`

export interface Viewer {
  readonly id: number
  readonly admin: boolean
  readonly external: boolean
}

/** Which visibilities need no membership. */
export const openTo = (viewer: Viewer | null): readonly Visibility[] =>
  viewer === null || viewer.external ? ['public'] : ['public', 'internal']

/** Whether the viewer sees a record of that visibility, on which the role holds. */
export const canSee = (viewer: Viewer | null, visibility: Visibility, role: number, least: number): boolean =>
  viewer?.admin === true || openTo(viewer).includes(visibility) || role >= least
