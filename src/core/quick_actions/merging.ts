import { approve, unapprove } from '../merge_requests/approvals.ts'
import { asDraft, asReady, isDraft } from '../merge_requests/drafts.ts'
import { isLonger } from '../values/lengths.ts'
import { findTwin } from '../merge_requests/writes.ts'
import type { MergeRequestRun, Told } from './run.ts'

// Commands that say how ready a merge request is, and where it is to go.

export function draft(run: MergeRequestRun): Told {
  const title = asDraft(run.change.title ?? run.row.title)
  if (!run.may.change || isLonger(title, 255)) return undefined
  return mark(run, 'draft', title)
}
export function ready(run: MergeRequestRun): Told {
  const title = asReady(run.change.title ?? run.row.title)
  return run.may.change && title !== '' ? mark(run, 'ready', title) : undefined
}
/** A state that holds already is reported and is no fault, as published. */
function mark(run: MergeRequestRun, as: 'draft' | 'ready', title: string): Told {
  const same = title === (run.change.title ?? run.row.title)
  run.changes['wip_event'] = as
  if (same) return "No change to this merge request's draft status."
  run.change.title = title
  return `Marked this merge request as ${isDraft(title) ? 'a draft' : 'ready'}.`
}

export async function approveIt(run: MergeRequestRun): Promise<Told> {
  const { db, actor, row } = run
  if ((run.change.state ?? row.state) !== 'opened') return undefined
  const isNew = await approve(db, row, actor.id)
  return isNew ? 'Approved the current merge request.' : undefined
}
export async function unapproveIt({ db, actor, row }: MergeRequestRun): Promise<Told> {
  const had = await unapprove(db, row, actor.id)
  return had ? 'Unapproved the current merge request.' : undefined
}

/** As it is changed by hand: into a branch that there is, into which no other merge request brings the same. */
export async function retarget(run: MergeRequestRun, branch: string): Promise<Told> {
  const { db, row } = run
  const isOver = row.state === 'merged' || row.state === 'locked'
  if (!run.may.change || isOver || branch === '') return undefined
  const { iid, source_branch, source_project_id, project_id } = row
  const isItself = project_id === source_project_id && branch === source_branch
  if (isItself || run.branches?.existing.has(branch) !== true) return undefined
  const ends = { project_id, source_project_id: source_project_id ?? 0, source_branch, target_branch: branch }
  const twin = await findTwin(db, ends)
  if (twin !== undefined && twin !== iid) return undefined
  run.change.target_branch = branch
  run.changes['target_branch'] = branch
  return `Set target branch to ${branch}.`
}
