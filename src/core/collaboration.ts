import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { statement, type Slots } from '../db/statement.ts'
import { mayMerge, pushRules } from './protected_branches.ts'
import type { Project } from './projects.ts'
import { heldBy, roleInProject } from './roles.ts'

interface Offered {
  readonly source_branch: string
  readonly target_branch: string
  /** The project it would be merged into, and what the user holds there. */
  readonly project_id: number
  readonly role: number
}

const offered = statement(
  (p: Slots<{ project_id: number; user_id: number }>) => sql<Offered>`
    select m.source_branch, m.target_branch, m.project_id,
           coalesce(${roleInProject(heldBy(p.user_id), sql`t.id`, sql`n.traversal_ids`)}, 0) as role
      from merge_requests m join projects t on t.id = m.project_id join namespaces n on n.id = t.namespace_id
     where m.source_project_id = ${p.project_id} and m.state = 'opened' and m.allow_collaboration
       and m.project_id <> m.source_project_id and t.visibility <> 'private'`,
)

type Fork = Pick<Project, 'id' | 'visibility' | 'forked_from_project_id'>

/**
 * The branches of a fork into which somebody without a right there may push, for they are offered to a project where
 * that one may merge them. Where fork or project are private there are none, and no protected one is among them.
 */
export async function branchesOpenTo(db: Db, fork: Fork, userId: number): Promise<ReadonlySet<string>> {
  const open = new Set<string>()
  if (fork.visibility === 'private' || fork.forked_from_project_id === null) return open
  for (const { project_id, role, source_branch, target_branch } of await db.rows(offered, {
    project_id: fork.id,
    user_id: userId,
  })) {
    const holder = { id: userId, role, admin: false }
    if (!mayMerge(undefined, holder)) continue
    const [here, there] = [await pushRules(db, fork), await pushRules(db, { id: project_id })]
    if (here(source_branch) === undefined && mayMerge(there(target_branch), holder)) open.add(source_branch)
  }
  return open
}
