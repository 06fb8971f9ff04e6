import type { Db } from '../../db/db.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { recordEvents, type OutboxEvent } from '../../outbox/record.ts'

type Act = 'create' | 'destroy'

export interface ProjectPlace {
  readonly id: number
  readonly namespace_id: number
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly visibility: Visibility
  readonly created_at: Date
  readonly updated_at: Date
}
export interface GroupPlace {
  readonly id: number
  readonly name: string
  readonly path: string
  readonly full_path: string
  readonly traversal_ids: readonly number[]
  readonly created_at: Date
  readonly updated_at: Date
}

const projectEvent = (act: Act, project: ProjectPlace, by: number | null): OutboxEvent => {
  const { id, namespace_id, name, path, full_path, visibility, created_at, updated_at } = project
  return {
    kind: 'project',
    action: `project_${act}`,
    activity: act === 'create' ? 'created' : undefined,
    author_id: by,
    project_id: id,
    group_id: namespace_id,
    target_type: 'project',
    target_id: id,
    trigger: 'project_events',
    data: { name, path, full_path, visibility, created_at, updated_at },
  }
}

/** Records that projects were made or deleted. `by` is who did it. */
export const recordProjects = (
  db: Db,
  act: Act,
  projects: readonly ProjectPlace[],
  by: number | null,
): Promise<void> =>
  recordEvents(
    db,
    projects.map((project) => projectEvent(act, project, by)),
  )

const groupEvent = (act: Act, group: GroupPlace, by: number | null): OutboxEvent => {
  const { id, name, path, full_path, traversal_ids, created_at, updated_at } = group
  const above = traversal_ids.slice(0, -1)
  return {
    kind: 'group',
    action: `group_${act}`,
    author_id: by,
    group_id: id,
    target_type: 'group',
    target_id: id,
    trigger: above.length > 0 ? 'subgroup_events' : undefined,
    // The groups above: their webhooks hear of it.
    data: { name, path, full_path, line: above, created_at, updated_at },
  }
}

/** The same for groups. */
export const recordGroups = (
  db: Db,
  act: Act,
  groups: readonly GroupPlace[],
  by: number | null,
): Promise<void> =>
  recordEvents(
    db,
    groups.map((group) => groupEvent(act, group, by)),
  )
