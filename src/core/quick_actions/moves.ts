import { enqueue } from '../../jobs/job.ts'
import { isDraft } from '../merge_requests/drafts.ts'
import { headPipelineStatus, isUnfinished } from '../delivery/head_pipelines.ts'
import { plans } from '../planning/issue_changes.ts'
import { hasFeature } from '../places/project_features.ts'
import { mayMerge, mayPush, pushRules } from '../repositories/protected_branches.ts'
import { findProjectAt } from './rows.ts'
import type { IssueRun, MergeRequestRun, Told } from './run.ts'
import { ROLES, canSee } from '../sight/roles.ts'

// Commands that move branches or issues. What they ask for is done by a job, when the text they stand in is committed:
// git has no part in its transaction. The job judges the right once more.

/** Runs in `areas/merge_requests/commanded.ts`. */
export const BRANCH_BY_COMMAND = { name: 'branch_by_command' } as const
export interface CommandedBranch {
  readonly command: 'merge' | 'rebase'
  readonly merge_request_id: number
  readonly user_id: number
}
/** Runs in `areas/issues/commanded.ts`. */
export const ISSUE_BY_COMMAND = { name: 'issue_by_command' } as const
export interface CommandedIssue {
  readonly issue_id: number
  readonly user_id: number
  readonly to_project_id: number
}

const ask = (run: MergeRequestRun, command: CommandedBranch['command']): Promise<void> =>
  enqueue<CommandedBranch>(run.db, BRANCH_BY_COMMAND, {
    command,
    merge_request_id: run.row.id,
    user_id: run.actor.id,
  })

const holder = ({ actor, place }: MergeRequestRun): Parameters<typeof mayMerge>[1] => ({
  id: actor.id,
  role: place.role,
  admin: actor.admin,
})

export async function mergeIt(run: MergeRequestRun): Promise<Told> {
  const { db, row, place } = run
  const isOpen = (run.change.state ?? row.state) === 'opened'
  if (!isOpen || isDraft(run.change.title ?? row.title) || row.head_sha === null) return undefined
  const rule = (await pushRules(db, place.project))(row.target_branch)
  if (!mayMerge(rule, holder(run))) return undefined
  await ask(run, 'merge')
  run.changes['merge'] = row.head_sha
  return isUnfinished(await headPipelineStatus(db, row.id, row.head_sha))
    ? 'Scheduled to merge this merge request (Merge when pipeline succeeds).'
    : 'Merged this merge request.'
}

export async function rebaseIt(run: MergeRequestRun): Promise<Told> {
  const { db, row } = run
  if ((run.change.state ?? row.state) !== 'opened' || row.source_project_id === null) return undefined
  if (row.merge_status === 'cannot_be_merged')
    return { why: 'This merge request cannot be rebased while there are conflicts.' }
  const rule = (await pushRules(db, { id: row.source_project_id }))(row.source_branch)
  const isHere = row.source_project_id === row.project_id
  if (isHere && !(mayPush(rule, holder(run)) && (rule === undefined || rule.allowForcePush))) return undefined
  await ask(run, 'rebase')
  run.changes['rebase'] = true
  return `Scheduled a rebase of branch ${row.source_branch}.`
}

const MAX_PATH = 1_000

export async function moveIt(run: IssueRun, path: string): Promise<Told> {
  const { db, actor, row, place } = run
  const target = path === '' || path.length > MAX_PATH ? undefined : await findProjectAt(db, path, actor.id)
  if (target === undefined || !canSee(actor, target.visibility, target.role, ROLES.guest))
    return {
      why: "Unable to move. Target project or group doesn't exist or doesn't support this item type.",
    }
  const goes =
    target.id !== place.project.id &&
    !target.archived &&
    plans({ actor, project: target }) &&
    hasFeature(actor, target, 'issues')
  if (!goes) return { why: 'Unable to move. Insufficient permissions.' }
  const wanted = { issue_id: row.id, user_id: actor.id, to_project_id: target.id }
  await enqueue<CommandedIssue>(db, ISSUE_BY_COMMAND, wanted, `${ISSUE_BY_COMMAND.name} ${row.id}`)
  run.changes['target_container'] = target.full_path
  return `Moved this item to ${target.full_path}.`
}
