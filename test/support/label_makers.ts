import { randomBytes } from 'node:crypto'
import type { Label } from '../../src/db/schema/tables.ts'
import { rowOf, rowsOf } from './rows.ts'
import type { World } from './world.ts'

interface Record {
  readonly id: number
}
type Home = { readonly group: Record } | { readonly project: Record }

export interface WantedLabel {
  readonly title?: string
  readonly color?: string
  readonly description?: string
  readonly locked?: boolean
}
export interface WantedIssue {
  readonly label?: Record
  readonly state?: 'opened' | 'closed'
  readonly confidential?: boolean
  readonly author?: Record
  readonly assignee?: Record
}
export interface WantedMergeRequest {
  readonly label?: Record
  readonly state?: 'opened' | 'closed' | 'locked' | 'merged'
}

/** Puts a label into a group or a project, past the interface. */
export function makeLabel(world: World, home: Home, wanted: WantedLabel = {}): Promise<Label> {
  const { title = `label-${randomBytes(4).toString('hex')}`, color = '#112233' } = wanted
  const { description = null, locked = false } = wanted
  const [group, project] = 'group' in home ? [home.group.id, null] : [null, home.project.id]
  return rowOf<Label>(
    world,
    `insert into labels (group_id, project_id, title, color, description, lock_on_merge)
     values ($1, $2, $3, $4, $5, $6) returning *`,
    [group, project, title, color, description, locked],
  )
}

export async function makeIssue(world: World, project: Record, wanted: WantedIssue = {}): Promise<Record> {
  const { state = 'opened', confidential = false, author, assignee, label } = wanted
  const issue = await rowOf<Record>(
    world,
    `insert into issues (iid, project_id, author_id, title, state, confidential)
     select count(*) + 1, $1, $2, 'an issue', $3, $4 from issues where project_id = $1 returning id`,
    [project.id, author?.id ?? null, state, confidential],
  )
  if (assignee) await rowsOf(world, 'insert into issue_assignees values ($1, $2)', [issue.id, assignee.id])
  if (label)
    await rowsOf(world, 'insert into label_links (label_id, noteable_id) values ($1, $2)', [
      label.id,
      issue.id,
    ])
  return issue
}

export async function makeMergeRequest(
  world: World,
  project: Record,
  { label, state = 'opened' }: WantedMergeRequest = {},
): Promise<Record> {
  const request = await rowOf<Record>(
    world,
    `insert into merge_requests (iid, project_id, title, state)
     select count(*) + 1, $1, 'a merge request', $2 from merge_requests where project_id = $1 returning id`,
    [project.id, state],
  )
  const link = 'insert into label_links (label_id, noteable_id) values ($1, $2)'
  if (label) await rowsOf(world, link, [label.id, request.id])
  return request
}
