import { sql, type RawBuilder } from 'kysely'
import { heldOnProject, isBelow } from '../../core/areas.ts'
import { lasts } from '../../core/expiry.ts'
import { ROLES, heldBy, openTo, type Viewer } from '../../core/roles.ts'
import type { Db } from '../../db/client.ts'
import type { Visibility } from '../../db/schema.ts'
import {
  known,
  listed,
  paged,
  statement,
  statements,
  type Listed,
  type Paged,
  type Slots,
} from '../../db/statement.ts'
import { containing } from '../../db/text.ts'
import type { ProjectInGroup } from '../../records/project.ts'
import { belongs } from './store.ts'

export const PROJECT_ORDERS = [
  'id',
  'name',
  'path',
  'created_at',
  'updated_at',
  'similarity',
  'star_count',
  'last_activity_at',
] as const

export interface ProjectShape {
  /** Whose projects: the group's own, those of its line or its subgroups too, and those shared into it. */
  readonly own: boolean
  readonly ancestors: boolean
  readonly descendants: boolean
  readonly shared: boolean
  readonly everything: boolean
  readonly order: (typeof PROJECT_ORDERS)[number]
  readonly descending: boolean
  readonly archived: boolean | null
  readonly visibility: boolean
  readonly search: boolean
  readonly starred: boolean
  readonly role: boolean
  readonly issuesEnabled: boolean
  readonly mergeRequestsEnabled: boolean
  readonly counted: boolean
  /** There is so much below the group that a walk along all projects in their order soon meets enough of it. */
  readonly vast: boolean
  readonly reach: number
}
export interface ProjectFilters {
  readonly group_id: number
  readonly line: readonly number[]
  /** The address of the group. */
  readonly full_path: string
  readonly visibility: Visibility | null
  readonly search: string
  /** The least level the viewer must hold on each project. */
  readonly role: number
  readonly limit: number
  readonly offset: number
}
type Values = ProjectFilters & {
  readonly user_id: number | null
  readonly open_to: readonly Visibility[]
  readonly pattern: string
}
type P = { readonly [Name in keyof Values]: RawBuilder<Values[Name]> }

function conditions(p: P, shape: ProjectShape): RawBuilder<unknown> {
  return sql.join(
    [
      shape.everything
        ? sql`true`
        : sql`(p.visibility = any(${p.open_to}) or ${heldOnProject} >= ${sql.lit(ROLES.guest)})`,
      ...(shape.archived === null ? [] : [sql`p.archived = ${sql.lit(shape.archived)}`]),
      ...(shape.visibility ? [sql`p.visibility = ${p.visibility}`] : []),
      ...(shape.search ? [sql`(p.name ilike ${p.pattern} or p.path ilike ${p.pattern})`] : []),
      ...(shape.starred
        ? [sql`exists (select from project_stars s where s.user_id = ${p.user_id} and s.project_id = p.id)`]
        : []),
      ...(shape.role ? [sql`${heldOnProject} >= ${p.role}`] : []),
      ...(shape.issuesEnabled ? [sql`coalesce((p.settings->>'issues_enabled')::boolean, true)`] : []),
      ...(shape.mergeRequestsEnabled
        ? [sql`coalesce((p.settings->>'merge_requests_enabled')::boolean, true)`]
        : []),
    ],
    sql` and `,
  )
}

function orderOf(p: P, { order, descending, search }: ProjectShape): RawBuilder<unknown> {
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

/** Everything below a group is one range of addresses. */
const inside = (p: P): RawBuilder<unknown> => isBelow('p', sql`${p.full_path}::text`)
function homes(p: P, { own, ancestors, descendants }: ProjectShape): RawBuilder<unknown> | undefined {
  if (!own) return undefined
  if (descendants)
    return ancestors ? sql`(${inside(p)} or p.namespace_id = any(${p.line}::bigint[]))` : inside(p)
  return ancestors ? sql`p.namespace_id = any(${p.line}::bigint[])` : sql`p.namespace_id = ${p.group_id}`
}

const walks = (where: RawBuilder<unknown>, order: RawBuilder<unknown>, most: RawBuilder<unknown>) =>
  sql.join(
    (['private', 'internal', 'public'] as const).map(
      (each) => sql`(select p.* from (
        select p.* from projects p where p.visibility = ${sql.lit(each)} order by ${order} offset 0) p
         where ${where} limit ${most})`,
    ),
    sql` union all `,
  )

/** More projects than these are not fetched and sorted. */
const SORTED = 2_000
const size = statement(
  (p: Slots<{ full_path: string }>) => sql<{ vast: boolean }>`
    select count(*) > ${sql.lit(SORTED)} as vast
      from (select from projects p where ${isBelow('p', sql`${p.full_path}::text`)} limit ${sql.lit(SORTED + 1)}) m`,
)
const isVast = async (db: Db, { full_path }: Pick<ProjectFilters, 'full_path'>): Promise<boolean> =>
  (await db.rows(size, { full_path }))[0]?.vast === true

/** Own and shared projects are each taken in order and only as far as the page reaches, then merged. */
const list = statements<ProjectShape, Values, Paged<ProjectInGroup>>(
  (p, shape) => {
    const where = conditions(p, shape)
    const order = orderOf(p, shape)
    const home = homes(p, shape)
    const sharedIn = sql`p.id in (select l.project_id from project_group_links l
    where l.group_id = ${p.group_id} and ${lasts('l')})`
    const from = sql`from projects p`
    const sources = [
      ...(home ? [home] : []),
      ...(shape.shared ? [home ? sql`${sharedIn} and not (${home})` : sharedIn] : []),
    ]
    const most = sql.lit(shape.reach)
    const reach = sql.join(
      sources.map((source) =>
        shape.vast && source === home
          ? walks(sql`${source} and ${where}`, order, most)
          : sql`(select p.* ${from} where ${source} and ${where} order by ${order} limit ${most})`,
      ),
      sql` union all `,
    )
    const mine = sql`with mine as materialized (select * from ${heldBy(p.user_id)} g)`
    const page = sql<ProjectInGroup>`
    ${mine}
    select p.*, to_json(home) as namespace, shared.shared_with_groups
      from (select p.* from (${reach}) p order by ${order} limit ${p.limit} offset ${p.offset}) p,
           lateral (select n.name, n.path, n.kind, n.full_name, n.full_path, n.parent_id, n.avatar_url
                      from namespaces n where n.id = p.namespace_id) home,
           lateral (select coalesce(json_agg(json_build_object(
                             'group_id', n.id, 'group_name', n.name, 'group_full_path', n.full_path,
                             'group_access_level', l.group_access, 'expires_at', l.expires_at) order by l.id), '[]')
                             as shared_with_groups
                      from project_group_links l join namespaces n on n.id = l.group_id
                     where l.project_id = p.id and ${lasts('l')}
                       and ${shape.everything ? sql`true` : sql`(n.visibility = any(${p.open_to}) or (${belongs}))`}
                   ) shared
     order by ${order}`
    if (!shape.counted)
      return sql`select r.*, 0 as total_count, row_number() over () as position from (${page}) r`
    const matches = sql.join(
      sources.map((source) => sql`select ${from} where ${source} and ${where}`),
      sql` union all `,
    )
    return paged(page, sql`${mine} ${matches}`)
  },
  ({ search, starred, role, descendants }) => search || starred || role || descendants,
)

/** One page of a group's projects, as far as the viewer may see them. */
export async function listProjects(
  db: Db,
  viewer: Viewer | null,
  shape: ProjectShape,
  filters: ProjectFilters,
): Promise<Listed<ProjectInGroup>> {
  const walked = shape.own && shape.descendants && !shape.search && shape.order !== 'similarity'
  const vast = walked && (await isVast(db, filters))
  const reach = known(filters.limit + filters.offset)
  return listed(
    await db.rows(list({ ...shape, vast, reach }), {
      ...filters,
      user_id: viewer?.id ?? null,
      open_to: openTo(viewer),
      pattern: containing(filters.search),
    }),
  )
}

export const PROJECT_SHAPE: ProjectShape = {
  own: true,
  ancestors: false,
  descendants: false,
  shared: false,
  everything: false,
  order: 'created_at',
  descending: true,
  archived: null,
  visibility: false,
  search: false,
  starred: false,
  role: false,
  issuesEnabled: false,
  mergeRequestsEnabled: false,
  counted: true,
  vast: false,
  reach: 0,
}
