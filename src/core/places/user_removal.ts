import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import { lasts } from '../values/expiry.ts'
import { removeTree } from './group_tree.ts'
import { recordUser } from '../people/users.ts'
import { findInternal } from '../people/internal_users.ts'
import { removeProjectsBelow } from './project_removal.ts'
import { ROLES } from '../sight/roles.ts'

const lock = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('users').selectAll().where('id', '=', p.id).forUpdate(),
)
const groupsOwnedAlone = statement(
  (p: Slots<{ id: number }>) => sql<{ id: number }>`
    select m.namespace_id as id from members m
     where m.user_id = ${p.id} and m.namespace_id is not null and m.access_level = ${sql.lit(ROLES.owner)}
       and ${lasts('m')}
       and not exists (
         select from members o join users u on u.id = o.user_id and u.user_type = 'human' and u.state = 'active'
          where o.namespace_id = m.namespace_id and o.user_id <> m.user_id
            and o.access_level = ${sql.lit(ROLES.owner)} and ${lasts('o')})`,
)

/** Whether some group would be left without an owner. */
export const ownsAlone = async (db: Db, id: number): Promise<boolean> =>
  (await db.one(groupsOwnedAlone, { id })) !== undefined

/** Where a user stands as the one who wrote something. What is gone with the user is not here: tokens, todos, roles. */
const WRITTEN = [
  ['issues', 'author_id'],
  ['merge_requests', 'author_id'],
  ['snippets', 'author_id'],
  ['epics', 'author_id'],
  ['notes', 'author_id'],
  ['resource_label_events', 'user_id'],
  ['resource_state_events', 'user_id'],
  ['resource_milestone_events', 'user_id'],
  ['resource_weight_events', 'user_id'],
  ['resource_iteration_events', 'user_id'],
  ['merge_request_merges', 'user_id'],
] as const
/** Records deleted with a user who is removed with contributions: the rest are traces in the records of others. */
const CONTRIBUTIONS = new Set(['issues', 'merge_requests', 'snippets', 'epics', 'notes'])

type Ids = { readonly id: number; readonly ghost_id: number }
const column = (table: string, name: string): RawBuilder<unknown> => sql.ref(`${table}.${name}`)
const handOver = WRITTEN.map(([table, name]) =>
  statement(
    (p: Slots<Ids>) => sql`
      update ${sql.table(table)} set ${sql.ref(name)} = ${p.ghost_id} where ${column(table, name)} = ${p.id}`,
  ),
)
const handOverReactions = statement(
  (p: Slots<Ids>) => sql`
    update award_emoji a set user_id = ${p.ghost_id}
     where a.user_id = ${p.id}
       and not exists (select from award_emoji g where g.user_id = ${p.ghost_id} and g.name = a.name
                        and g.noteable_id is not distinct from a.noteable_id
                        and g.note_id is not distinct from a.note_id)`,
)
const discard = WRITTEN.filter(([table]) => CONTRIBUTIONS.has(table)).map(([table, name]) =>
  statement(
    (p: Slots<{ id: number }>) => sql`delete from ${sql.table(table)} where ${column(table, name)} = ${p.id}`,
  ),
)
const home = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('namespaces').select('id').where('owner_id', '=', p.id),
)
const removeUser = statement((p: Slots<{ id: number }>) => q.deleteFrom('users').where('id', '=', p.id))

/**
 * Removes a user with the personal namespace and its projects. What the user wrote is the ghost's from then on, or goes
 * too, and with it the groups that nobody else owns. Call inside a transaction.
 */
export async function removeUserAndAll(
  db: Db,
  id: number,
  contributionsToo: boolean,
  by: number | null,
): Promise<void> {
  const user = await db.one(lock, { id })
  if (contributionsToo) {
    for (const group of await db.rows(groupsOwnedAlone, { id })) await removeTree(db, group.id, by)
    for (const one of discard) await db.run(one, { id })
  } else {
    const { id: ghost_id } = await findInternal(db, 'ghost')
    for (const one of handOver) await db.run(one, { id, ghost_id })
    await db.run(handOverReactions, { id, ghost_id })
  }
  const own = await db.one(home, { id })
  if (own !== undefined) await removeProjectsBelow(db, own.id, by)
  await db.run(removeUser, { id })
  if (user !== undefined) await recordUser(db, 'user_destroy', user, by)
}
