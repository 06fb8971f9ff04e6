import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'
import { recordMembers, type MemberChange } from './member_events.ts'
import { lasts } from '../values/expiry.ts'
import { ROLES, ROLE_NAMES } from '../sight/roles.ts'

/** A group or a project, as that of which people are members. */
export interface Source {
  readonly kind: 'group' | 'project'
  readonly id: number
  /** The caller's role on it. */
  readonly role: number
  /** The namespaces above, from the root down: whose members are members here too. */
  readonly above: readonly number[]
}
type Kind = Pick<Source, 'kind'>

export const LEVELS = Object.values(ROLES) as readonly number[]

/** The source as columns of a member. */
export const on = ({
  kind,
  id,
}: Pick<Source, 'kind' | 'id'>): Pick<MemberChange, 'namespace_id' | 'project_id'> =>
  kind === 'group' ? { namespace_id: id, project_id: null } : { namespace_id: null, project_id: id }

/** Which levels can be given there: minimal access is of groups alone. */
const isLevel = ({ kind }: Kind, level: number): boolean =>
  LEVELS.includes(level) && (kind === 'group' || level !== ROLES.minimal_access)

/** As part of a statement that names members `m`: those that were given a role on the source itself. */
export const own = ({ kind }: Kind, id: RawBuilder<unknown>): RawBuilder<unknown> =>
  kind === 'group' ? sql`m.namespace_id = ${id}` : sql`m.project_id = ${id}`

/** Why somebody cannot have a role there, as the published sentence after the field's name. */
export interface Fault {
  readonly field: string
  readonly text: string
}
export type Outcome =
  { readonly is: 'added' | 'known' | 'queued' | 'absent' } | ({ readonly is: 'refused' } & Fault)

/** The same as a sentence. */
export const sentenceOf = ({ field, text }: Fault): string => {
  const words = field.replaceAll('_', ' ')
  return `${words[0]?.toUpperCase()}${words.slice(1)} ${text}`
}

interface Candidate {
  readonly id: number
  readonly username: string
  readonly user_type: string
  readonly billable: boolean
  readonly floor: number | null
  readonly floor_group: string | null
}
const candidates = statement(
  (p: Slots<{ ids: readonly number[]; above: readonly number[] }>) => sql<Candidate>`
    select u.id, u.username, u.user_type, floor.access_level as floor, floor.name as floor_group,
           exists (select from members m where m.user_id = u.id and m.access_level > ${sql.lit(ROLES.guest)} and ${lasts('m')}) as billable
      from users u
      left join lateral (
        select m.access_level, n.name from members m join namespaces n on n.id = m.namespace_id
         where m.user_id = u.id and m.namespace_id = any(${p.above}::bigint[]) and ${lasts('m')}
           and m.access_level >= ${sql.lit(ROLES.guest)}
         order by m.access_level desc, cardinality(n.traversal_ids) desc limit 1) floor on true
     where u.id = any(${p.ids}::bigint[])`,
)

interface Given {
  readonly ids: readonly number[]
  readonly source_id: number
  readonly access_level: number
  readonly expires_at: string | null
  readonly by: number | null
}
// A membership that is over is as good as none.
const insert = statements<Kind, Given, { user_id: number }>((p, { kind }) => {
  const column = sql.ref(kind === 'group' ? 'namespace_id' : 'project_id')
  return sql<{ user_id: number }>`
    insert into members as m (user_id, ${column}, access_level, expires_at, created_by_id)
    select id, ${p.source_id}, ${p.access_level}, ${p.expires_at}::date, ${p.by}
      from unnest(${p.ids}::bigint[]) id order by id
    on conflict (user_id, ${column}) ${kind === 'group' ? sql`` : sql`where project_id is not null`}
    do update set access_level = excluded.access_level, expires_at = excluded.expires_at,
                  created_by_id = excluded.created_by_id, created_at = now(), updated_at = now()
     where not ${lasts('m')}
    returning m.user_id`
})
const queue = statements<Kind, Given, { user_id: number }>((p, { kind }) => {
  const column = sql.ref(kind === 'group' ? 'namespace_id' : 'project_id')
  return sql<{ user_id: number }>`
    insert into member_promotions (user_id, ${column}, access_level, expires_at, requested_by_id)
    select id, ${p.source_id}, ${p.access_level}, ${p.expires_at}::date, ${p.by}
      from unnest(${p.ids}::bigint[]) id order by id
    on conflict (user_id, ${column}) where ${column} is not null
    do update set access_level = excluded.access_level, expires_at = excluded.expires_at,
                  requested_by_id = excluded.requested_by_id
    returning user_id`
})
const members = statements<Kind, { ids: readonly number[]; source_id: number }, { user_id: number }>(
  (p, kind) => sql<{ user_id: number }>`
    select m.user_id from members m where m.user_id = any(${p.ids}::bigint[]) and ${own(kind, p.source_id)} and ${lasts('m')}`,
)

export interface Wish {
  readonly access_level: number
  /** `YYYY-MM-DD`, the first day without it. */
  readonly expires_at: string | null
  readonly by: number | null
  /** Promotions into a billable role wait for an administrator. */
  readonly queues: boolean
}

/** Faults of a request for any user. A membership that ends today would have expired already. */
export function faultOf(
  source: Kind,
  { access_level, expires_at }: Omit<Wish, 'by' | 'queues'>,
  today: string,
): Fault | undefined {
  if (!isLevel(source, access_level)) return { field: 'access_level', text: 'is not included in the list' }
  if (expires_at !== null && expires_at <= today)
    return { field: 'expires_at', text: 'cannot be a date in the past' }
  return undefined
}

function refusalFor({ user_type, floor, floor_group }: Candidate, { access_level }: Wish): Fault | undefined {
  if (user_type !== 'human')
    return { field: 'user', text: 'project bots cannot be added to other groups / projects' }
  return floorFault(access_level, floor, floor_group)
}
const floorFault = (level: number, floor: number | null, group: string | null): Fault | undefined =>
  floor === null || level === 0 || level >= floor
    ? undefined
    : {
        field: 'access_level',
        text: `should be greater than or equal to ${ROLE_NAMES.get(floor)} inherited membership from group ${group}`,
      }

export interface Told {
  readonly id: number
  readonly username: string | undefined
  readonly outcome: Outcome
}

/**
 * Gives users a role on the source, or says of each why not, in as many statements for many as for one. Call inside a
 * transaction, with a wish that has no fault of its own.
 */
export async function giveRole(db: Db, source: Source, ids: readonly number[], wish: Wish): Promise<Told[]> {
  const found = new Map((await db.rows(candidates, { ids, above: source.above })).map((row) => [row.id, row]))
  const outcomes = new Map<number, Outcome>()
  for (const id of ids) {
    const candidate = found.get(id)
    const fault = candidate && refusalFor(candidate, wish)
    if (candidate === undefined) outcomes.set(id, { is: 'absent' })
    else if (fault !== undefined) outcomes.set(id, { is: 'refused', ...fault })
    else if (wish.queues && wish.access_level > ROLES.guest && !candidate.billable)
      outcomes.set(id, { is: 'queued' })
    else outcomes.set(id, { is: 'known' })
  }
  const having = (is: Outcome['is']): number[] => ids.filter((id) => outcomes.get(id)?.is === is)
  const { access_level, expires_at, by } = wish
  const given = { source_id: source.id, access_level, expires_at, by }
  const kind = { kind: source.kind }
  const waiting = having('queued')
  if (waiting.length > 0) {
    for (const row of await db.rows(members(kind), { ids: waiting, source_id: source.id }))
      outcomes.set(row.user_id, { is: 'known' })
    await db.rows(queue(kind), { ...given, ids: having('queued') })
  }
  const wanted = having('known').filter((id) => !waiting.includes(id))
  if (wanted.length > 0)
    for (const row of await db.rows(insert(kind), { ...given, ids: [...new Set(wanted)] }))
      outcomes.set(row.user_id, { is: 'added' })
  const added = having('added').map((user_id) => ({ user_id, ...on(source), access_level, expires_at }))
  await recordMembers(db, 'add', added, by)
  return ids.map((id) => ({
    id,
    username: found.get(id)?.username,
    outcome: outcomes.get(id) ?? { is: 'absent' },
  }))
}

/** Whether a change to that level would wait for an administrator, and what forbids it. */
export async function judgeChange(
  db: Db,
  source: Source,
  userId: number,
  wish: Wish,
): Promise<Fault | 'queued' | undefined> {
  const [candidate] = await db.rows(candidates, { ids: [userId], above: source.above })
  if (candidate === undefined) return undefined
  const fault = floorFault(wish.access_level, candidate.floor, candidate.floor_group)
  if (fault !== undefined) return fault
  if (!wish.queues || wish.access_level <= ROLES.guest || candidate.billable) return undefined
  const { access_level, expires_at, by } = wish
  await db.rows(queue({ kind: source.kind }), {
    ids: [userId],
    source_id: source.id,
    access_level,
    expires_at,
    by,
  })
  return 'queued'
}

const names = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<{ username: string }>`
    select username from users where id = any(${p.ids}::bigint[]) order by id`,
)
/** The names of those that there are. */
export const usernamesOf = async (db: Db, ids: readonly number[]): Promise<string[]> =>
  ids.length === 0 ? [] : (await db.rows(names, { ids })).map(({ username }) => username)
