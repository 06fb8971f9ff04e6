import { sql, type RawBuilder } from 'kysely'
import { lasts } from '../../core/values/expiry.ts'
import { recordMembers, type MemberChange } from '../../core/people/member_events.ts'
import { own, type Source } from '../../core/people/membership.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'
import type { Member } from './store.ts'

const ROW = sql`m.user_id, m.namespace_id, m.project_id, m.access_level, m.expires_at`

type Kind = Pick<Source, 'kind'>
type Key = { readonly source_id: number; readonly user_id: number }

const updateStatement = statements<
  Kind,
  Key & { access_level: number; expires_at: string | null; keeps: boolean },
  MemberChange
>(
  (p, kind) => sql`
    update members m set access_level = ${p.access_level},
           expires_at = case when ${p.keeps}::boolean then m.expires_at else ${p.expires_at}::date end, updated_at = now()
     where m.user_id = ${p.user_id} and ${own(kind, p.source_id)}
    returning ${ROW}`,
)
/** `expires_at` undefined leaves that as it is. */
export async function update(
  db: Db,
  { kind, id }: Source,
  userId: number,
  to: { readonly access_level: number; readonly expires_at: string | null | undefined; readonly by: number },
): Promise<void> {
  const changed = await db.rows(updateStatement({ kind }), {
    source_id: id,
    user_id: userId,
    access_level: to.access_level,
    expires_at: to.expires_at ?? null,
    keeps: to.expires_at === undefined,
  })
  await recordMembers(db, 'update', changed, to.by)
}

const removeStatement = statements<Kind, Key, MemberChange>(
  (p, kind) => sql`
    delete from members m where m.user_id = ${p.user_id} and ${own(kind, p.source_id)} returning ${ROW}`,
)
const below = (id: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select d.id from namespaces d where d.traversal_ids @> array[${id}::bigint] offset 0)`
const removeBelow = statement(
  (p: Slots<Key>) => sql<MemberChange>`
    delete from members m
     where m.user_id = ${p.user_id}
       and (m.namespace_id in ${below(p.source_id)}
            or m.project_id in (select p.id from projects p where p.namespace_id in ${below(p.source_id)}))
    returning ${ROW}`,
)
const unassignStatements = (
  ['issue_assignees', 'merge_request_assignees', 'merge_request_reviewers'] as const
).map((table) => {
  const [parents, key] =
    table === 'issue_assignees' ? ['issues', 'issue_id'] : ['merge_requests', 'merge_request_id']
  return statements<Kind, Key, unknown>(
    (p, { kind }) => sql`
        delete from ${sql.table(table)} a using ${sql.table(parents)} r
         where a.user_id = ${p.user_id} and r.id = ${sql.ref(`a.${key}`)} and r.project_id in (${
           kind === 'project'
             ? sql`select ${p.source_id}::bigint`
             : sql`select p.id from projects p where p.namespace_id in ${below(p.source_id)}`
         })`,
  )
})

/** Takes a role away; with `below`, those on what is inside the group too. */
export async function remove(
  db: Db,
  { kind, id }: Source,
  userId: number,
  options: { readonly below: boolean; readonly unassign: boolean; readonly by: number },
): Promise<void> {
  const key = { source_id: id, user_id: userId }
  const gone = await db.rows(removeStatement({ kind }), key)
  if (options.below && kind === 'group') gone.push(...(await db.rows(removeBelow, key)))
  await recordMembers(db, 'remove', gone, options.by)
  if (options.unassign) for (const one of unassignStatements) await db.run(one({ kind }), key)
}

const hold = statement(
  (p: Slots<{ id: number }>) => sql`select from namespaces where id = ${p.id} for no key update`,
)
interface Owning {
  readonly line: readonly number[]
  readonly user_id: number
  readonly until: string | null
}
const otherOwner = statement(
  (p: Slots<Owning>) => sql<{ id: number }>`
    select m.id from members m join users u on u.id = m.user_id and u.user_type = 'human' and u.state = 'active'
     where m.namespace_id = any(${p.line}::bigint[]) and m.user_id <> ${p.user_id}
       and m.access_level = ${sql.lit(ROLES.owner)} and ${lasts('m')}
       and (m.expires_at is null or m.expires_at >= ${p.until}::date) limit 1`,
)

const personalOwner = statement(
  (p: Slots<{ above: readonly number[]; user_id: number }>) => sql<{ id: number }>`
    select n.id from namespaces n
     where n.id = any(${p.above}::bigint[]) and n.kind = 'user' and n.owner_id = ${p.user_id}`,
)

/**
 * Whether no other owner would be left for as long, here or above: a group always has one, and the owner of a personal
 * project stays its owner. Two owners who leave at once wait for each other.
 */
export async function isLastOwner(db: Db, { kind, id, above }: Source, member: Member): Promise<boolean> {
  if (member.access_level !== ROLES.owner) return false
  if (kind === 'project') return (await db.one(personalOwner, { above, user_id: member.id })) !== undefined
  await db.run(hold, { id })
  const other = { line: [...above, id], user_id: member.id, until: member.expires_at }
  return (await db.one(otherOwner, other)) === undefined
}
