import type { Static } from 'typebox'
import type { Group as GroupRow } from '../../core/places/groups.ts'
import { ANY_PROJECT, PROJECT_LIST_SHAPE, type ProjectListFilters } from '../../core/lists/project_shape.ts'
import type { Context } from '../../http/gate.ts'
import { presentProject } from '../../records/places/project.ts'
import { present, type Around, type Group } from './entity.ts'
import { listProjects } from './project_store.ts'
import { listShares } from './store.ts'

const MOST_PROJECTS = 100

interface Wish {
  readonly withProjects: boolean
  readonly withCustomAttributes: boolean
}

/** A group as the caller sees it, with what hangs on it. */
export async function presentWhole(
  ctx: Context,
  group: GroupRow,
  { withProjects, withCustomAttributes }: Wish = { withProjects: true, withCustomAttributes: false },
): Promise<Static<typeof Group>> {
  const { actor } = ctx
  const around = await aroundGroup(ctx, group, withProjects)
  const shows = { customAttributes: actor?.admin === true && withCustomAttributes }
  return present(group, around, { site: ctx, actor, shows })
}

async function aroundGroup(ctx: Context, group: GroupRow, withProjects: boolean): Promise<Around> {
  const { db, actor } = ctx
  const filters = projectFilters(group, { limit: MOST_PROJECTS, offset: 0 })
  const shape = { ...PROJECT_LIST_SHAPE, uncounted: true }
  const view = { simple: false, customAttributes: false }
  // One after the other: a call that writes has one connection for all it asks.
  const shared_with_groups = await listShares(db, actor, group.id)
  const own = withProjects ? await listProjects(db, actor, { ...shape, of: 'namespace' }, filters) : undefined
  const shared = withProjects ? await listProjects(db, actor, { ...shape, of: 'shared' }, filters) : undefined
  return {
    shared_with_groups,
    projects: own?.items.map((row) => presentProject(row, ctx, view)),
    shared_projects: shared?.items.map((row) => presentProject(row, ctx, view)),
  }
}

/** All projects of a group. */
export const projectFilters = (
  group: GroupRow,
  page: { limit: number; offset: number },
): ProjectListFilters => ({
  ...ANY_PROJECT,
  of_id: group.id,
  of_path: group.full_path,
  line: group.traversal_ids.filter((id) => id !== group.id),
  ...page,
})
