import { actsBy } from '../../access/acting.ts'
import { lockIssue } from '../../core/planning/issue_rows.ts'
import { ISSUE_BY_COMMAND, type CommandedIssue } from '../../core/quick_actions/moves.ts'
import { Problem } from '../../http/problems.ts'
import type { Job } from '../../jobs/job.ts'
import { moveIssue } from './people_operations.ts'
import { findProject } from './store.ts'

const moves = actsBy(moveIssue)

/** Moves an issue as `/move` asked. What is refused by now stays where it is. */
export const issueByCommand: Job<CommandedIssue> = {
  ...ISSUE_BY_COMMAND,
  run: async (instance, { issue_id, user_id, to_project_id }) => {
    const { db } = instance
    const issue = await lockIssue(db, issue_id)
    const project = issue && (await findProject(db, issue.project_id, user_id))
    if (issue === undefined || project === undefined) return
    const path = { id: String(project.id), issue_iid: String(issue.iid) }
    await moves(instance, { user_id, project, path, sent: { to_project_id } }).catch((error: unknown) => {
      if (!(error instanceof Problem) || error.status >= 500) throw error
    })
  },
}
