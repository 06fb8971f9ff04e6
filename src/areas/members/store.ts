import { sql, type RawBuilder } from 'kysely'
import { own, unexpired, type Source } from '../../core/membership.ts'
import { ROLES, heldBy, openTo, roleInNamespace, type Viewer } from '../../core/roles.ts'
import type { Db } from '../../db/client.ts'
import type { Visibility } from '../../db/schema.ts'
import {
  listed,
  paged,
  statement,
  statements,
  type Listed,
  type Paged,
  type Slots,
} from '../../db/statement.ts'
import { containing } from '../../db/text.ts'
import type { Author } from '../../records/user.ts'

export interface Member extends Author {
  readonly access_level: number
  readonly expires_at: string | null
  readonly member_since: Date
  readonly created_by: Author | null
}

interface Shape {
  readonly kind: Source['kind']
  /** Those too who are members through a group above or through a group that was invited. */
  readonly all: boolean
  /** The viewer belongs there, and so sees the members of every group that was invited. */
  readonly inside: boolean
  readonly one: boolean
  readonly query: boolean
  readonly user_ids: boolean
  readonly skip_users: boolean
}
interface Values {
  readonly source_id: number
  readonly above: readonly number[]
  readonly viewer: number | null
  readonly open_to: readonly Visibility[]
  readonly pattern: string
  readonly user_id: number
  readonly user_ids: readonly number[]
  readonly skip_users: readonly number[]
  readonly limit: number
  readonly offset: number
}

const HELD = sql`m.user_id, m.access_level, m.expires_at, m.created_at, m.created_by_id`

/** Who holds what there, in as many rows as there are ways. */
function held(p: Slots<Values>, { kind, all, inside }: Shape): RawBuilder<unknown> {
  const direct = sql`select ${HELD} from members m where ${own({ kind }, p.source_id)} and ${unexpired}`
  if (!all) return direct
  const above = sql`${p.above}::bigint[]`
  const line = kind === 'group' ? sql`(${above} || ${p.source_id}::bigint)` : above
  const visible = inside
    ? sql`true`
    : sql`(w.visibility = any(${p.open_to})
           or ${roleInNamespace(heldBy(p.viewer), sql`w.traversal_ids`)} >= ${sql.lit(ROLES.guest)})`
  const invited = (links: RawBuilder<unknown>): RawBuilder<unknown> => sql`
    select m.user_id, least(m.access_level, l.group_access), least(m.expires_at, l.expires_at), m.created_at, m.created_by_id
      from ${links} join namespaces w on w.id = l.with_id
      join members m on m.namespace_id = any(w.traversal_ids)
     where m.access_level >= ${sql.lit(ROLES.guest)} and ${unexpired} and ${visible}
       and (l.expires_at is null or l.expires_at > today()) and not denied_in(m.user_id, w.traversal_ids)`
  const ofGroups = sql`(select shared_with_group_id as with_id, group_access, expires_at
                          from group_group_links where shared_group_id = any(${line})) l`
  const ofProject = sql`(select group_id as with_id, group_access, expires_at
                           from project_group_links where project_id = ${p.source_id}) l`
  return sql`
    ${direct}
    union all select ${HELD} from members m
     where m.namespace_id = any(${above}) and m.access_level <> ${sql.lit(ROLES.minimal_access)} and ${unexpired}
    union all select n.owner_id, ${sql.lit(ROLES.owner)}, null, n.created_at, null
      from namespaces n where n.id = any(${line}) and n.kind = 'user'
    union all ${invited(ofGroups)}
    ${kind === 'project' ? sql`union all ${invited(ofProject)}` : sql``}`
}

/** One row for each user: the strongest of what is held, unless something denies. Given directly there is but one. */
const strongest = (p: Slots<Values>, shape: Shape): RawBuilder<unknown> => sql`
  select ${shape.all ? sql`distinct on (h.user_id)` : sql``} h.* from (${held(p, shape)}) h
    join users u on u.id = h.user_id
   where ${sql.join(
     [
       sql`true`,
       ...(shape.one ? [sql`h.user_id = ${p.user_id}`] : []),
       ...(shape.query ? [sql`(u.name ilike ${p.pattern} or u.username ilike ${p.pattern})`] : []),
       ...(shape.user_ids ? [sql`h.user_id = any(${p.user_ids}::bigint[])`] : []),
       ...(shape.skip_users ? [sql`h.user_id <> all(${p.skip_users}::bigint[])`] : []),
     ],
     sql` and `,
   )}
   order by h.user_id${shape.all ? sql`, (h.access_level = 0) desc, h.access_level desc, h.expires_at desc nulls first` : sql``}`

const shown = (rows: RawBuilder<unknown>): RawBuilder<Member> => sql`
  select u.id, u.username, u.name, u.state, u.avatar_url, h.access_level::int as access_level, h.expires_at,
         h.created_at as member_since,
         (select json_build_object('id', c.id, 'username', c.username, 'name', c.name, 'state', c.state,
                                   'avatar_url', c.avatar_url) from users c where c.id = h.created_by_id) as created_by
    from (${rows}) h join users u on u.id = h.user_id`

const listStatement = statements<Shape, Values, Paged<Member>>((p, shape) =>
  paged(
    sql<Member>`${shown(sql`${strongest(p, shape)} limit ${p.limit} offset ${p.offset}`)} order by u.id`,
    sql`select from (${strongest(p, shape)}) counted`,
  ),
)
const oneStatement = statements<Shape, Values, Member>((p, shape) => shown(strongest(p, shape)))

const valuesFor = (source: Source, viewer: Viewer | null): Values => ({
  source_id: source.id,
  above: source.above,
  viewer: viewer?.id ?? null,
  open_to: openTo(viewer),
  pattern: '',
  user_id: 0,
  user_ids: [],
  skip_users: [],
  limit: 0,
  offset: 0,
})
const shapeFor = ({ kind, role }: Source, viewer: Viewer | null, all: boolean): Shape => ({
  kind,
  all,
  inside: viewer?.admin === true || role >= ROLES.guest,
  one: false,
  query: false,
  user_ids: false,
  skip_users: false,
})

export interface Wanted {
  readonly all: boolean
  readonly query?: string | undefined
  readonly user_ids?: readonly number[] | undefined
  readonly skip_users?: readonly number[] | undefined
}
type Page = { readonly size: number; readonly offset: number }

export async function list(
  db: Db,
  viewer: Viewer | null,
  source: Source,
  { all, query = '', user_ids, skip_users, page }: Wanted & { readonly page: Page },
): Promise<Listed<Member>> {
  const shape = {
    ...shapeFor(source, viewer, all),
    query: query !== '',
    user_ids: user_ids !== undefined,
    skip_users: skip_users !== undefined,
  }
  const values = {
    ...valuesFor(source, viewer),
    pattern: containing(query),
    user_ids: user_ids ?? [],
    skip_users: skip_users ?? [],
    limit: page.size,
    offset: page.offset,
  }
  return listed(await db.rows(listStatement(shape), values))
}

export const find = (
  db: Db,
  viewer: Viewer | null,
  source: Source,
  { all, userId }: { readonly all: boolean; readonly userId: number },
): Promise<Member | undefined> =>
  db.one(oneStatement({ ...shapeFor(source, viewer, all), one: true }), {
    ...valuesFor(source, viewer),
    user_id: userId,
  })

const byUsernames = statement(
  (p: Slots<{ names: readonly string[] }>) => sql<{ id: number; username: string }>`
    select id, username from users where lower(username) in (select lower(name) from unnest(${p.names}::text[]) name)`,
)
export const findByUsernames = (
  db: Db,
  names: readonly string[],
): Promise<{ id: number; username: string }[]> => db.rows(byUsernames, { names })
