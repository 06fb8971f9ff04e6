import { sql, type RawBuilder } from 'kysely'
import { heldBy, roleInProject } from '../sight/roles.ts'
import type { Db } from '../../db/db.ts'
import type { Project } from '../../db/schema/tables.ts'
import { statements } from '../../db/statement.ts'

/** A project that a commit may be wanted to start in, or to be compared with. */
export interface StartProject extends Pick<
  Project,
  'id' | 'visibility' | 'repository_access_level' | 'forked_from_project_id'
> {
  readonly full_name: string
  /** The caller's role on it; 0 for none. */
  readonly role: number
}

interface Shape {
  readonly by: 'id' | 'full_path'
}

const byRef = statements<Shape, { ref: number | string; user_id: number | null }, StartProject>(
  (p, { by }) => {
    const is: RawBuilder<unknown> =
      by === 'id' ? sql`p.id = ${p.ref}` : sql`lower(p.full_path) = lower(${p.ref})`
    const role = roleInProject(heldBy(p.user_id), sql`p.id`, sql`n.traversal_ids`)
    return sql<StartProject>`
      select p.id, p.visibility, p.repository_access_level, n.full_name || ' / ' || p.name as full_name, p.forked_from_project_id,
             coalesce(${role}, 0) as role
        from projects p join namespaces n on n.id = p.namespace_id
       where ${is}`
  },
)

/** By id (`'12'`) or full path, with what the user holds on it. */
export async function findStart(
  db: Db,
  ref: string,
  userId: number | null,
): Promise<StartProject | undefined> {
  if (!/^\d+$/.test(ref)) return db.one(byRef({ by: 'full_path' }), { ref, user_id: userId })
  return ref.length > 15 ? undefined : db.one(byRef({ by: 'id' }), { ref: Number(ref), user_id: userId })
}

interface Forked {
  readonly id: number
  readonly forked_from_project_id: number | null
}
/** Whether one was forked from the other, or both from a third. */
export const isRelated = (one: Forked, other: Forked): boolean =>
  one.forked_from_project_id === other.id ||
  other.forked_from_project_id === one.id ||
  (one.forked_from_project_id !== null && one.forked_from_project_id === other.forked_from_project_id)
