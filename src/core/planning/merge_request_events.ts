import type { Db } from '../../db/db.ts'
import type { MergeRequest } from '../../db/schema/planning.ts'
import { ACTIVITY, type Changes, type Moves, type StateAction } from '../../outbox/changes.ts'
import { recordEvents, type OutboxEvent } from '../../outbox/record.ts'

export type MergeRequestAction = StateAction | 'approved' | 'unapproved'

export interface MergeRequestEvent {
  readonly action: MergeRequestAction
  readonly author_id: number | null
  readonly changes?: Changes | undefined
  readonly labels?: Moves | undefined
  readonly assignees?: Moves | undefined
  readonly reviewers?: Moves | undefined
  /** The head before new commits came. */
  readonly oldrev?: string | undefined
}

const ACTIVITIES = { ...ACTIVITY, approved: 'approved', unapproved: undefined } as const

/** Records what happened to a merge request. */
export function recordMergeRequest(
  db: Db,
  { id, iid, project_id }: Pick<MergeRequest, 'id' | 'iid' | 'project_id'>,
  { action, author_id, ...data }: MergeRequestEvent,
): Promise<void> {
  const event: OutboxEvent = {
    kind: 'merge_request',
    action,
    activity: ACTIVITIES[action],
    author_id,
    project_id,
    target_type: 'merge_request',
    target_id: id,
    target_iid: iid,
    noteable_kind: 'merge_request',
    noteable_id: id,
    trigger: 'merge_requests_events',
    data,
  }
  return recordEvents(db, [event])
}
