import { sql, type RawBuilder } from 'kysely'
import { lasts } from '../../core/values/expiry.ts'
import { own, type Source } from '../../core/people/membership.ts'
import { ROLES, heldBy, openTo, roleInNamespace, type Viewer } from '../../core/sight/roles.ts'
import { namesUser } from '../../core/people/users.ts'
import type { Db } from '../../db/db.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { COUNTED, paged, pageStatements, type Listed } from '../../db/pages.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'
import { containing } from '../../db/text.ts'
import type { Author } from '../../records/people/user.ts'

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
type Raw = RawBuilder<unknown>

const HELD = sql`m.user_id, m.access_level, m.expires_at, m.created_at, m.created_by_id`

/** Conditions on the members `m`. */
const asked = (p: Slots<Values>, shape: Shape): Raw =>
  sql.join(
    [
      lasts('m'),
      ...(shape.one ? [sql`m.user_id = ${p.user_id}`] : []),
      ...(shape.query
        ? [sql`exists (select from users u where u.id = m.user_id and ${namesUser(p.pattern)})`]
        : []),
      ...(shape.user_ids ? [sql`m.user_id = any(${p.user_ids}::bigint[])`] : []),
      ...(shape.skip_users ? [sql`m.user_id <> all(${p.skip_users}::bigint[])`] : []),
    ],
    sql` and `,
  )

/**
 * Roles there, one row for each way. `who` narrows `m`; each group gives its members by id, and at most up to `cut`.
 */
function held(p: Slots<Values>, { kind, all, inside }: Shape, who: Raw, cut: Raw): Raw {
  const direct = sql`(select ${HELD} from members m where ${own({ kind }, p.source_id)} and ${who} ${cut})`
  const above = sql`${p.above}::bigint[]`
  const line = kind === 'group' ? sql`(${above} || ${p.source_id}::bigint)` : above
  const owner = sql`
    select m.* from (
      select n.owner_id as user_id, ${sql.lit(ROLES.owner)} as access_level, null::date as expires_at, n.created_at,
             null::bigint as created_by_id
        from namespaces n where n.id = any(${line}) and n.kind = 'user') m where ${who}`
  // A personal project is its owner's, who counts as given the role on it.
  if (!all) return kind === 'project' ? sql`${direct} union all ${owner}` : direct
  const visible = inside
    ? sql`true`
    : sql`(w.visibility = any(${p.open_to})
           or ${roleInNamespace(heldBy(p.viewer), sql`w.traversal_ids`)} >= ${sql.lit(ROLES.guest)})`
  const invited = (links: Raw): Raw => sql`
    select m.user_id, least(m.access_level, l.group_access), least(m.expires_at, l.expires_at), m.created_at, m.created_by_id
      from ${links} join namespaces w on w.id = l.with_id, unnest(w.traversal_ids) as giving (id), lateral (
        select ${HELD} from members m
         where m.namespace_id = giving.id and m.access_level >= ${sql.lit(ROLES.guest)}
           and not denied_in(m.user_id, w.traversal_ids) and ${who} ${cut}) m
     where ${visible} and ${lasts('l')}`
  const ofGroups = sql`(select shared_with_group_id as with_id, group_access, expires_at
                          from group_group_links where shared_group_id = any(${line})) l`
  const ofProject = sql`(select group_id as with_id, group_access, expires_at
                           from project_group_links where project_id = ${p.source_id}) l`
  return sql`
    ${direct}
    union all select m.* from unnest(${above}) as giving (id), lateral (
        select ${HELD} from members m
         where m.namespace_id = giving.id and m.access_level <> ${sql.lit(ROLES.minimal_access)} and ${who} ${cut}) m
    union all ${owner}
    union all ${invited(ofGroups)}
    ${kind === 'project' ? sql`union all ${invited(ofProject)}` : sql``}`
}

/** Whether a user may hold more than one row: directly on a group there is but one. */
const severalWays = ({ all, kind }: Shape): boolean => all || kind === 'project'

/** One row for each user: the strongest of what is held, unless something denies. */
const strongest = (p: Slots<Values>, shape: Shape, who: Raw): Raw => sql`
  select ${severalWays(shape) ? sql`distinct on (h.user_id)` : sql``} h.* from (${held(p, shape, who, sql``)}) h
   order by h.user_id${severalWays(shape) ? sql`, (h.access_level = 0) desc, h.access_level desc, h.expires_at desc nulls first` : sql``}`

/** The same users by their ids alone, as far as `reach`. */
const ids = (p: Slots<Values>, shape: Shape, reach: Raw): Raw =>
  sql`select distinct h.user_id from (
        ${held(p, shape, asked(p, shape), sql`order by m.user_id limit ${reach}`)}) h`

const shown = (rows: RawBuilder<unknown>): RawBuilder<Member> => sql`
  select u.id, u.username, u.name, u.state, u.avatar_url, h.access_level::int as access_level, h.expires_at,
         h.created_at as member_since,
         (select json_build_object('id', c.id, 'username', c.username, 'name', c.name, 'state', c.state,
                                   'avatar_url', c.avatar_url) from users c where c.id = h.created_by_id) as created_by
    from (${rows}) h join users u on u.id = h.user_id`

const listStatement = pageStatements<Shape, Values, Member>((p, shape) => {
  const who = sql`${lasts('m')} and m.user_id = any(array(select user_id from chosen))`
  return paged(
    sql<Member>`${shown(strongest(p, shape, who))} order by u.id`,
    severalWays(shape)
      ? ids(p, shape, sql.lit(COUNTED + 1))
      : sql`select from members m where ${own(shape, p.source_id)} and ${asked(p, shape)}`,
    sql`chosen as materialized (
      ${ids(p, shape, sql`${p.limit}::bigint + ${p.offset}::bigint`)} order by h.user_id limit ${p.limit} offset ${p.offset})`,
  )
})
const oneStatement = statements<Shape, Values, Member>((p, shape) =>
  shown(strongest(p, shape, asked(p, shape))),
)

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
type Page = { readonly limit: number; readonly offset: number }

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
    ...page,
  }
  return db.page(listStatement(shape), values)
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
