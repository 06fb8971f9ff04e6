import { sql } from 'kysely'
import { belongsBelow, heldBy, roleInNamespace } from '../sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Viewer } from '../sight/roles.ts'
import { limitText, maySee, type TargetNamespace } from './project_rules.ts'

const role = (user: Slots<{ user_id: number }>['user_id']) =>
  sql`coalesce(${roleInNamespace(heldBy(user), sql`n.traversal_ids`)}, 0) as role`
const byId = statement(
  (p: Slots<{ user_id: number; id: number }>) =>
    sql<TargetNamespace>`select n.*, ${role(p.user_id)} from namespaces n where n.id = ${p.id}`,
)
const byPath = statement(
  (p: Slots<{ user_id: number; path: string }>) =>
    sql<TargetNamespace>`select n.*, ${role(p.user_id)} from namespaces n where lower(n.full_path) = lower(${p.path})`,
)
const personal = statement(
  (p: Slots<{ user_id: number; owner_id: number }>) =>
    sql<TargetNamespace>`select n.*, ${role(p.user_id)} from namespaces n where n.owner_id = ${p.owner_id}`,
)

/** By id or by full path, whoever asks. */
export const findTargetNamespace = (
  db: Db,
  actor: Viewer,
  ref: string | number,
): Promise<TargetNamespace | undefined> =>
  /^\d{1,15}$/.test(String(ref))
    ? db.one(byId, { user_id: actor.id, id: Number(ref) })
    : db.one(byPath, { user_id: actor.id, path: String(ref) })

/** The personal namespace of a user. */
export const personalNamespace = (
  db: Db,
  actor: Viewer,
  userId: number,
): Promise<TargetNamespace | undefined> => db.one(personal, { user_id: actor.id, owner_id: userId })

const limit = statement(
  (p: Slots<{ owner_id: number; namespace_id: number }>) => sql<{ most: number; reached: boolean }>`
    select u.projects_limit as most,
           (select count(*) from (select from projects p where p.namespace_id = ${p.namespace_id}
                                   limit u.projects_limit) held) >= u.projects_limit as reached
      from users u where u.id = ${p.owner_id}`,
)

/** The refusal where the personal namespace is at its owner's project limit; undefined below it. */
export async function limitFault(db: Db, home: TargetNamespace): Promise<string | undefined> {
  if (home.owner_id === null) return undefined
  const found = await db.one(limit, { owner_id: home.owner_id, namespace_id: home.id })
  return found?.reached === true ? limitText(found.most) : undefined
}
const belongs = statement(
  (p: Slots<{ user_id: number; id: number }>) => sql<{ belongs: boolean }>`
    select ${belongsBelow(heldBy(p.user_id), sql`${p.id}::bigint`)} as belongs`,
)

/** Whether there is a group of that id that the caller sees. */
export async function seesGroup(db: Db, actor: Viewer, id: number): Promise<boolean> {
  const home = await findTargetNamespace(db, actor, id)
  if (home?.kind !== 'group') return false
  return maySee(actor, home) || (await db.one(belongs, { user_id: actor.id, id }))?.belongs === true
}
