import type { Db } from '../../db/db.ts'
import { ACTIVITY, type Changes, type Moves, type StateAction } from '../../outbox/changes.ts'
import { recordEvents, type OutboxEvent } from '../../outbox/record.ts'

interface IssueEvent {
  readonly action: StateAction
  readonly author_id: number | null
  readonly changes?: Changes | undefined
  readonly labels?: Moves | undefined
  readonly assignees?: Moves | undefined
}
interface Of {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly confidential: boolean
}

export function issueEvent(issue: Of, { action, author_id, ...data }: IssueEvent): OutboxEvent {
  return {
    kind: 'issue',
    action,
    activity: ACTIVITY[action],
    author_id,
    project_id: issue.project_id,
    target_type: 'issue',
    target_id: issue.id,
    target_iid: issue.iid,
    noteable_kind: 'issue',
    noteable_id: issue.id,
    trigger: issue.confidential ? 'confidential_issues_events' : 'issues_events',
    data,
  }
}

/** Records that an issue was opened, closed, reopened or changed. */
export const recordIssue = (db: Db, issue: Of, event: IssueEvent): Promise<void> =>
  recordEvents(db, [issueEvent(issue, event)])
