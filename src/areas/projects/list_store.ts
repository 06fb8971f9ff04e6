import { sql, type RawBuilder } from 'kysely'
import { ROLES, homeOf, openTo, roleInProject, type Viewer } from '../../core/roles.ts'
import { mine } from '../../core/sight.ts'
import type { Db } from '../../db/client.ts'
import type { Visibility } from '../../db/schema.ts'
import { listed, paged, statements, type Listed, type Paged } from '../../db/statement.ts'
import { containing } from '../../db/text.ts'
import type { ProjectRecord } from '../../records/full_project.ts'
import { recordsOf, revive } from './record_store.ts'

export const PROJECT_ORDERS = [
  'id',
  'name',
  'path',
  'created_at',
  'updated_at',
  'last_activity_at',
  'similarity',
  'star_count',
] as const

export interface ProjectListShape {
  /** Which projects: all that the viewer sees, the viewer's own, those of a namespace, starred by somebody, forked from one. */
  readonly of: 'all' | 'member' | 'namespace' | 'starred' | 'forks'
  readonly order: (typeof PROJECT_ORDERS)[number]
  readonly descending: boolean
  readonly visibility: Visibility | null
  readonly archived: boolean | null
  readonly search: boolean
  readonly starred: boolean
  /** The viewer must hold a level, however visible the project is. */
  readonly role: boolean
  readonly ids: boolean
  /** The filters that few ask for, all in one: so there are not as many statements as ways to mix them. */
  readonly rare: boolean
  /** Pages by id, without totals. */
  readonly keyset: boolean
}
export interface ProjectListFilters {
  /** Of the namespace, the user who starred, or the project forked. */
  readonly of_id: number
  readonly search: string
  /** Whether a match in the path of the namespace will do. */
  readonly namespaces: boolean
  readonly topics: readonly string[]
  readonly issues: boolean
  readonly merge_requests: boolean
  readonly role: number
  readonly id_after: number
  readonly id_before: number
  /** Moments, or infinities. */
  readonly active_after: string
  readonly active_before: string
  readonly updated_after: string
  readonly updated_before: string
  readonly limit: number
  readonly offset: number
}
type Values = ProjectListFilters & {
  readonly user_id: number | null
  readonly open_to: readonly Visibility[]
  readonly pattern: string
}
type P = { readonly [Name in keyof Values]: RawBuilder<Values[Name]> }
type Raw = RawBuilder<unknown>
type Shape = ProjectListShape & { readonly everything: boolean; readonly open: readonly Visibility[] }

const VISIBILITIES: readonly Visibility[] = ['private', 'internal', 'public']
const held = sql`coalesce(${roleInProject(sql`mine`, sql`p.id`, sql`n.traversal_ids`)}, 0)`
const at = (moment: Raw): Raw => sql`${moment}::timestamptz`

function filters(p: P, shape: Shape): Raw[] {
  return [
    ...(shape.archived === null ? [] : [shape.archived ? sql`p.archived` : sql`not p.archived`]),
    ...(shape.search
      ? [
          sql`(p.name ilike ${p.pattern} or p.description ilike ${p.pattern}
              or (p.full_path ilike ${p.pattern} and (p.path ilike ${p.pattern} or ${p.namespaces})))`,
        ]
      : []),
    ...(shape.starred
      ? [sql`p.id = any(array(select s.project_id from project_stars s where s.user_id = ${p.user_id}))`]
      : []),
    ...(shape.ids ? [sql`p.id > ${p.id_after} and p.id < ${p.id_before}`] : []),
    ...(shape.rare
      ? [
          sql`p.topics @> ${p.topics}::text[]`,
          sql`(not ${p.issues} or coalesce((p.settings->>'issues_enabled')::boolean, true))`,
          sql`(not ${p.merge_requests} or coalesce((p.settings->>'merge_requests_enabled')::boolean, true))`,
          sql`p.last_activity_at > ${at(p.active_after)} and p.last_activity_at < ${at(p.active_before)}`,
          sql`p.updated_at > ${at(p.updated_after)} and p.updated_at < ${at(p.updated_before)}`,
        ]
      : []),
  ]
}

function orderOf(p: P, { order, descending, search }: Shape): Raw {
  if (order === 'similarity')
    return search
      ? sql`(lower(p.path) = lower(${p.search}) or lower(p.name) = lower(${p.search})) desc,
            (starts_with(lower(p.path), lower(${p.search})) or starts_with(lower(p.name), lower(${p.search}))) desc,
            length(p.name), p.name, p.id`
      : sql`p.name, p.id`
  const direction = descending ? sql`desc` : sql`asc`
  return order === 'id'
    ? sql`p.id ${direction}`
    : sql`${sql.ref(`p.${order}`)} ${direction}, p.id ${direction}`
}

const seen = (p: P, { everything, role }: Shape): Raw => {
  if (role) return sql`${held} >= ${p.role}`
  return everything
    ? sql`true`
    : sql`(p.visibility = any(${p.open_to}) or ${held} >= ${sql.lit(ROLES.guest)})`
}

/**
 * What the viewer is let into, namespace by namespace and project by project: each in order by an index, and only as far
 * as the page reaches. `only` are visibilities that other sources do not show.
 */
function memberSources(p: P, shape: Shape, only: Raw, cut: Raw): Raw[] {
  const level = shape.role ? p.role : sql.lit(ROLES.guest)
  const rest = sql.join([sql`${held} >= ${level}`, only, ...filters(p, shape)], sql` and `)
  return [
    sql`select p.* from homes h, lateral (
          select p.* from projects p, ${homeOf} n where p.namespace_id = h.id and ${rest} ${cut}) p`,
    sql`select p.* from projects p, ${homeOf} n
         where p.id = any(array(select g.project_id from mine g where g.project_id is not null))
           and not exists (select from homes h where h.id = p.namespace_id) and ${rest} ${cut}`,
  ]
}

/** The projects in question from a few sides, each project from one of them. */
function sources(p: P, shape: Shape, cut: Raw): Raw[] {
  const one = (where: Raw): Raw => {
    const all = sql.join([where, seen(p, shape), visible(shape), ...filters(p, shape)], sql` and `)
    return sql`select p.* from projects p, ${homeOf} n where ${all} ${cut}`
  }
  switch (shape.of) {
    case 'namespace':
      return [one(sql`p.namespace_id = ${p.of_id}`)]
    case 'forks':
      return [one(sql`p.forked_from_project_id = ${p.of_id}`)]
    case 'starred':
      return [
        one(sql`p.id = any(array(select s.project_id from project_stars s where s.user_id = ${p.of_id}))`),
      ]
    case 'member':
      return memberSources(p, shape, visible(shape), cut)
    case 'all': {
      const shown = VISIBILITIES.filter((each) => shape.visibility === null || each === shape.visibility)
      const open = shown.filter((each) => shape.everything || shape.open.includes(each))
      const closed = shown.filter((each) => !open.includes(each))
      const where = sql.join([sql`true`, ...filters(p, shape)], sql` and `)
      return [
        ...open.map(
          (each) => sql`select p.* from projects p where p.visibility = ${sql.lit(each)} and ${where} ${cut}`,
        ),
        ...(closed.length === 0 ? [] : memberSources(p, shape, among(closed), cut)),
      ]
    }
  }
}

const among = (visibilities: readonly Visibility[]): Raw =>
  sql`p.visibility in (${sql.join(visibilities.map((each) => sql.lit(each)))})`
const visible = ({ visibility }: Shape): Raw =>
  visibility === null ? sql`true` : sql`p.visibility = ${sql.lit(visibility)}`

const list = statements<Shape, Values, Paged<ProjectRecord>>((p, shape) => {
  const order = orderOf(p, shape)
  const reach = sql`order by ${order} limit ${p.limit}::bigint + ${p.offset}::bigint`
  const all = (cut: Raw): Raw =>
    sql.join(
      sources(p, shape, cut).map((source) => sql`(${source})`),
      sql` union all `,
    )
  const held = sql`with ${mine(p)}, homes as materialized (
    select d.id from namespaces d
     where d.traversal_ids && array(
       select g.namespace_id from mine g
        where g.namespace_id is not null and g.access_level >= ${sql.lit(ROLES.guest)}))`
  const chosen = sql`select p.* from (${all(reach)}) p order by ${order} limit ${p.limit} offset ${p.offset}`
  const page = sql<ProjectRecord>`${held} ${recordsOf(p, chosen, shape.everything)} order by ${order}`
  return shape.keyset
    ? sql`select r.*, 0 as total_count, row_number() over () as position from (${page}) r`
    : paged(page, sql`${held} select from (${all(sql``)}) m`)
})

/** One page of projects, as far as the viewer may see them. */
export async function listProjects(
  db: Db,
  viewer: Viewer | null,
  shape: ProjectListShape,
  values: ProjectListFilters,
): Promise<Listed<ProjectRecord>> {
  const everything = viewer?.admin === true
  const open = openTo(viewer)
  const rows = await db.rows(list({ ...shape, everything, open }), {
    ...values,
    user_id: viewer?.id ?? null,
    open_to: open,
    pattern: containing(values.search),
  })
  const found = listed(rows)
  return { ...found, items: found.items.map(revive) }
}

export const PROJECT_LIST_SHAPE: ProjectListShape = {
  of: 'all',
  order: 'created_at',
  descending: true,
  visibility: null,
  archived: null,
  search: false,
  starred: false,
  role: false,
  ids: false,
  rare: false,
  keyset: false,
}
export const ANY_PROJECT: Omit<ProjectListFilters, 'limit' | 'offset'> = {
  of_id: 0,
  search: '',
  namespaces: false,
  topics: [],
  issues: false,
  merge_requests: false,
  role: 0,
  id_after: 0,
  id_before: Number.MAX_SAFE_INTEGER,
  active_after: '-infinity',
  active_before: 'infinity',
  updated_after: '-infinity',
  updated_before: 'infinity',
}
