import assert from 'node:assert/strict'
import { ROLES, type RoleName } from '../../src/core/sight/roles.ts'
import type { Namespace, Project } from '../../src/db/schema/tables.ts'
import type { Someone } from './makers.ts'
import type { Answered, World } from './world.ts'

interface Share {
  readonly invited: { readonly id: number }
  readonly role: RoleName
  /** The first day without it. */
  readonly expires?: string
}

const day = (expires: string | undefined): string => (expires === undefined ? 'null' : `'${expires}'`)

/** Shares a group with the members of another. */
export const shareGroup = (world: World, group: { id: number }, share: Share): Promise<void> =>
  world.make.sql(
    `insert into group_group_links (shared_group_id, shared_with_group_id, group_access, expires_at)
     values (${group.id}, ${share.invited.id}, ${ROLES[share.role]}, ${day(share.expires)})`,
  )

/** Shares a project with the members of a group. */
export const shareProject = (world: World, project: { id: number }, share: Share): Promise<void> =>
  world.make.sql(
    `insert into project_group_links (project_id, group_id, group_access, expires_at)
     values (${project.id}, ${share.invited.id}, ${ROLES[share.role]}, ${day(share.expires)})`,
  )

type Named = { name?: string; path?: string; visibility?: 'private' | 'internal' | 'public' }

/** Makes a user who is a guest of groups of those names, paths and visibilities, and sees nothing else. */
export const guests =
  (world: () => World) =>
  async (...wanted: Named[]): Promise<{ user: Someone; groups: Namespace[] }> => {
    const { make } = world()
    const user = await make.user()
    const groups: Namespace[] = []
    for (const options of wanted) {
      const group = await make.group(options)
      await make.member(user, 'guest', { group })
      groups.push(group)
    }
    return { user, groups }
  }

/** Makes a public group with public projects of those names and paths. */
export const groupsOfProjects =
  (world: () => World) =>
  async (...wanted: Named[]): Promise<{ group: Namespace; projects: Project[] }> => {
    const { make } = world()
    const group = await make.group({ visibility: 'public' })
    const projects: Project[] = []
    for (const options of wanted)
      projects.push(await make.project({ group, visibility: 'public', ...options }))
    return { group, projects }
  }

/** The records of a list that was answered with 200. */
export function listOf(answer: Answered): Record<string, unknown>[] {
  assert.equal(answer.status, 200, answer.text)
  assert.ok(Array.isArray(answer.body), answer.text)
  return answer.body as Record<string, unknown>[]
}

/** One field of each record of a list, in its order. */
export const pick = (answer: Answered, field: string): unknown[] =>
  listOf(answer).map((record) => record[field])
