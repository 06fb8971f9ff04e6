import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { mayMerge, pushRules, type Holder } from './protected_branches.ts'
import type { Project } from '../places/projects.ts'
import { heldBy, roleInProject } from '../sight/roles.ts'

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
  if (fork.visibility === 'private' || fork.forked_from_project_id === null) return new Set()
  const holder = (role: number): Holder => ({ id: userId, role, admin: false })
  const offers = (await db.rows(offered, { project_id: fork.id, user_id: userId })).filter(({ role }) =>
    mayMerge(undefined, holder(role)),
  )
  if (offers.length === 0) return new Set()
  const projects = [...new Set([fork.id, ...offers.map(({ project_id }) => project_id)])]
  const rules = new Map(
    await Promise.all(projects.map(async (id) => [id, await pushRules(db, { id })] as const)),
  )
  const isOpen = ({ source_branch, target_branch, project_id, role }: Offered): boolean =>
    rules.get(fork.id)?.(source_branch) === undefined &&
    mayMerge(rules.get(project_id)?.(target_branch), holder(role))
  return new Set(offers.filter(isOpen).map(({ source_branch }) => source_branch))
}
