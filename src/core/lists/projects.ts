import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { type Listed, paged, pageStatements } from '../../db/pages.ts'
import type { Sql } from '../../db/statement.ts'
import { containing } from '../../db/text.ts'
import { lasts } from '../values/expiry.ts'
import type { ProjectListFilters, ProjectListShape, ProjectListValues, ProjectSet } from './project_shape.ts'
import { ROLES, openTo, roleInProject, type Viewer } from '../sight/roles.ts'
import { mine } from '../sight/callers.ts'
import { bySimilarity, isCalled } from '../values/similarity.ts'

// Lists of projects: one plain statement, of which each filter is a condition on the project `p`.

export type P = { readonly [Name in keyof ProjectListValues]: RawBuilder<ProjectListValues[Name]> }
export type Shape = ProjectListShape & { readonly everything: boolean }

function placeOf(p: P, of: ProjectListShape['of'] | ProjectSet): Sql {
  switch (of) {
    case 'all':
      return sql`true`
    case 'namespace':
      return sql`p.namespace_id = ${p.of_id}`
    case 'below':
      return sql`p.namespace_id = any(array(
        select d.id from namespaces d where d.traversal_ids @> array[${p.of_id}::bigint]))`
    case 'above':
      return sql`p.namespace_id = any(${p.line}::bigint[])`
    case 'forks':
      return sql`p.forked_from_project_id = ${p.of_id}`
    case 'starred':
      return sql`p.id = any(array(select s.project_id from project_stars s where s.user_id = ${p.of_id}))`
    case 'shared':
      return sql`p.id = any(array(select l.project_id from project_group_links l
        where l.group_id = ${p.of_id} and ${lasts('l')}))`
  }
}

/** Memberships of the viewer, hashed once: roles are computed for these projects alone. */
const belongs = sql`(
  p.namespace_id in (
    select d.id from namespaces d where d.traversal_ids && array(
      select g.namespace_id from mine g where g.namespace_id is not null))
  or p.id in (select g.project_id from mine g where g.project_id is not null))`
const role = roleInProject(
  sql`mine`,
  sql`p.id`,
  sql`(select n.traversal_ids from namespaces n where n.id = p.namespace_id)::bigint[]`,
)
const holds = (least: Sql): Sql => sql`(${belongs} and coalesce(${role}, 0) >= ${least})`

function sees(p: P, shape: Shape): Sql {
  if (shape.role) return holds(p.role)
  if (shape.everything) return sql`true`
  return sql`(p.visibility = any(${p.open_to}) or ${holds(sql.lit(ROLES.guest))})`
}

const inPart = (p: P): Sql => sql`
  (p.name ilike ${p.pattern} or p.description ilike ${p.pattern}
   or (p.full_path ilike ${p.pattern} and (p.path ilike ${p.pattern} or ${p.namespaces})))`

const conditions = (p: P, shape: Shape): Sql[] => [
  sql`(${sql.join(
    [shape.of, ...shape.also].map((of) => placeOf(p, of)),
    sql` or `,
  )})`,
  sees(p, shape),
  ...(shape.visibility === null ? [] : [sql`p.visibility = ${sql.lit(shape.visibility)}`]),
  ...(shape.archived === null ? [] : [sql`p.archived = ${sql.lit(shape.archived)}`]),
  ...(shape.search === 'whole' ? [isCalled('p', p.search)] : []),
  ...(shape.search === 'part' ? [inPart(p)] : []),
  ...(shape.topic ? [sql`p.topics @> ${p.topics}::text[]`] : []),
  ...(shape.attributes ? [sql`p.custom_attributes @> ${p.attributes}::jsonb`] : []),
  ...(shape.starred
    ? [sql`p.id = any(array(select s.project_id from project_stars s where s.user_id = ${p.user_id}))`]
    : []),
  ...(shape.imported
    ? [
        sql`p.creator_id = ${p.user_id}
            and exists (select from project_imports i where i.project_id = p.id and i.kind = 'url')`,
      ]
    : []),
  ...shape.uses.map((feature) => sql`not p.settings @> ${sql.lit(`{"${feature}_enabled":false}`)}::jsonb`),
  ...(shape.ids ? [sql`p.id > ${p.id_after} and p.id < ${p.id_before}`] : []),
  ...(shape.active
    ? [
        sql`p.last_activity_at > ${p.active_after}::timestamptz and p.last_activity_at < ${p.active_before}::timestamptz`,
      ]
    : []),
  ...(shape.updated
    ? [
        sql`p.updated_at > ${p.updated_after}::timestamptz and p.updated_at < ${p.updated_before}::timestamptz`,
      ]
    : []),
]

function orderOf(p: P, { order, search, descending }: Shape): Sql {
  if (order === 'similarity') return search === null ? sql`p.name, p.id` : bySimilarity('p', p.search)
  const way = descending ? sql`desc` : sql`asc`
  return order === 'id' ? sql`p.id ${way}` : sql`${sql.ref(`p.${order}`)} ${way}, p.id ${way}`
}

/** How many projects such a filter leaves depends on its value: these lists are planned for their values each time. */
const isFiltered = (shape: Shape): boolean =>
  shape.search !== null || shape.topic || shape.attributes || shape.ids || shape.active || shape.updated

/**
 * Lists of projects, a page at a time: `shown` selects from the whole rows of one page, in any order. Projects that the
 * viewer does not see are left out.
 */
export function projectPages<Row>(
  shown: (p: P, rows: RawBuilder<unknown>, shape: Shape) => RawBuilder<Row>,
): (
  db: Db,
  viewer: Viewer | null,
  shape: ProjectListShape,
  filters: ProjectListFilters,
) => Promise<Listed<Row>> {
  const list = pageStatements<Shape, ProjectListValues, Row>((p, shape) => {
    const order = orderOf(p, shape)
    const matches = sql`from projects p where ${sql.join(conditions(p, shape), sql` and `)}`
    const page = sql`select p.* ${matches} order by ${order} limit ${p.limit} offset ${p.offset}`
    return paged(
      sql<Row>`${shown(p, page, shape)} order by ${order}`,
      shape.uncounted ? undefined : sql`select ${matches}`,
      mine(p),
    )
  }, isFiltered)
  return (db, viewer, shape, filters) =>
    db.page(list({ ...shape, everything: viewer?.admin === true }), {
      ...filters,
      user_id: viewer?.id ?? null,
      open_to: openTo(viewer),
      pattern: containing(filters.search),
    })
}
