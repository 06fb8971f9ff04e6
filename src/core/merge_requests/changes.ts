import type { Db } from '../../db/db.ts'
import { Busy } from '../../db/errors.ts'
import type { MergeRequest } from '../../db/schema/planning.ts'
import { enqueue } from '../../jobs/job.ts'
import {
  commonSentences,
  notifyAssigned,
  recordCommonEvents,
  writeNote,
  writeSentences,
} from '../planning/common_changes.ts'
import { findMilestone } from '../planning/milestones.ts'
import * as says from '../conversation/system_note_sentences.ts'
import { giveUpAutoMerge, type GivenUp } from './auto_merges.ts'
import { isDraft } from './drafts.ts'
import { changeLabels, labelMoves } from '../planning/labelling.ts'
import { actionOf, changesBetween, movesOf } from '../../outbox/changes.ts'
import { recordMergeRequest, type MergeRequestEvent } from '../planning/merge_request_events.ts'
import { compareAgain } from './moves.ts'
import { isBeingMerged } from './rows.ts'
import {
  giveParts,
  lockMergeRequest,
  mergeRequestFields,
  readersOfCode,
  writeMergeRequest,
  type Given,
  type MergeRequestFields,
  type Part,
} from './writes.ts'
import type { Project } from '../places/projects.ts'
import { noteComparison, type TargetBranches } from './target_branches.ts'
import { finishTodos, isSeenTo } from '../conversation/todos.ts'

/** New values of a merge request; absent ones stay, null clears. */
export interface MergeRequestChange {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly state?: 'opened' | 'closed' | undefined
  readonly target_branch?: string | undefined
  readonly milestone_id?: number | null | undefined
  readonly assignee_ids?: readonly number[] | undefined
  readonly reviewer_ids?: readonly number[] | undefined
  readonly labels?: readonly string[] | undefined
  readonly add_labels?: readonly string[] | undefined
  readonly remove_labels?: readonly string[] | undefined
  readonly squash?: boolean | undefined
  readonly remove_source_branch?: boolean | undefined
  readonly allow_collaboration?: boolean | undefined
  readonly discussion_locked?: boolean | undefined
}

/** The author of the change, and the project. */
export interface MergeRequestDeed {
  readonly db: Db
  readonly actor: { readonly id: number }
  readonly project: Pick<Project, 'id' | 'traversal_ids'>
  readonly now: Date
  /** Set while a merge request is made: nothing has changed yet that people would want to be told. */
  readonly quiet?: boolean
  /** Git, as it was read before the transaction. */
  readonly branches?: TargetBranches | undefined
}

/**
 * Changes a merge request: its row, labels and people, with the events, sentences and reminders that go with it. Call
 * inside a transaction, having checked who may. A milestone that the project does not have counts as none, and whoever
 * cannot read the code is given no part. What is merged stays so. Violates `merge_requests_open_key` when another open
 * one has the same branches.
 */
export async function changeMergeRequest(
  deed: MergeRequestDeed,
  id: number,
  to: MergeRequestChange,
): Promise<void> {
  const { db, actor, project } = deed
  const before = await lockMergeRequest(db, id)
  if (before === undefined) return
  const after = await fieldsAfter(deed, before, to)
  const turns = before.state !== after.state || before.target_branch !== after.target_branch
  if (before.state === 'opened' && turns && (await isBeingMerged(db, id)))
    throw new Busy('a merge request is being merged')
  const labelled = await changeLabels(
    db,
    {
      noteable_id: id,
      user_id: actor.id,
      project_id: project.id,
      line: project.traversal_ids,
      creates: true,
    },
    { set: to.labels, add: to.add_labels, remove: to.remove_labels },
  )
  const assigned = await give(deed, id, 'merge_request_assignees', to.assignee_ids)
  const reviewed = await give(deed, id, 'merge_request_reviewers', to.reviewer_ids)
  const changes = changesBetween(mergeRequestFields(before), after)
  const isGiven = labelled.length + assigned.length + reviewed.length > 0
  const changed = isGiven || Object.keys(changes).length > 0
  if (changed) await writeMergeRequest(db, id, after)
  const reopened = before.state === 'closed' && after.state === 'opened'
  if (before.target_branch !== after.target_branch || reopened) {
    await noteComparison(db, { ...before, target_branch: after.target_branch }, deed.branches)
    // Its branches may have moved since git was read, and its head is not kept yet.
    await enqueue(db, compareAgain, { id }, `compare_again ${id}`)
  }
  if (deed.quiet !== true) await tell(deed, before, after)
  const ends = endOfAutoMerge(before, after)
  if (ends !== undefined) await giveUpAutoMerge(db, { id, user_id: actor.id }, ends)
  await recordCommonEvents(deed, before, after)
  if (changed || deed.quiet === true) {
    const moves = { labels: labelMoves(labelled), assignees: movesOf(assigned), reviewers: movesOf(reviewed) }
    await recordChange(deed, [before, after], { changes, ...moves })
  }
  const isSeen = isGiven || isSeenTo(before, after)
  if (isSeen && deed.quiet !== true) await finishTodos(db, [id], actor.id)
}

const recordChange = (
  { db, actor, quiet: isNew = false }: MergeRequestDeed,
  [before, after]: readonly [MergeRequest, MergeRequestFields],
  { changes, ...moves }: Omit<MergeRequestEvent, 'action' | 'author_id'>,
): Promise<void> =>
  recordMergeRequest(db, before, {
    ...moves,
    action: actionOf(before, after, isNew),
    author_id: actor.id,
    changes: isNew ? {} : changes,
  })

function endOfAutoMerge(before: MergeRequest, after: MergeRequestFields): GivenUp | undefined {
  if (before.state !== 'opened') return undefined
  if (after.state === 'closed') return 'closed'
  if (before.target_branch !== after.target_branch) return 'target'
  return !isDraft(before.title) && isDraft(after.title) ? 'draft' : undefined
}

async function fieldsAfter(
  { db, actor, project, now }: MergeRequestDeed,
  before: MergeRequest,
  to: MergeRequestChange,
): Promise<MergeRequestFields> {
  const kept = mergeRequestFields(before)
  const isOver = before.state === 'merged' || before.state === 'locked'
  const state = isOver ? before.state : (to.state ?? before.state)
  const milestone_id =
    to.milestone_id === undefined
      ? kept.milestone_id
      : to.milestone_id === null
        ? null
        : ((await findMilestone(db, project, to.milestone_id))?.id ?? null)
  return {
    title: to.title ?? kept.title,
    description: to.description === undefined ? kept.description : to.description,
    state,
    target_branch: isOver ? kept.target_branch : (to.target_branch ?? kept.target_branch),
    milestone_id,
    squash: to.squash ?? kept.squash,
    remove_source_branch: to.remove_source_branch ?? kept.remove_source_branch,
    allow_collaboration: to.allow_collaboration ?? kept.allow_collaboration,
    discussion_locked: to.discussion_locked ?? kept.discussion_locked,
    closed_at: state === before.state ? kept.closed_at : state === 'closed' ? now.toISOString() : null,
    closed_by_id: state === before.state ? kept.closed_by_id : state === 'closed' ? actor.id : null,
  }
}

const reviewing = (changes: readonly Given[]): string => {
  const names = (added: boolean): string =>
    changes
      .filter((one) => one.added === added)
      .map(({ username }) => `@${username}`)
      .join(' and ')
  const [fresh, gone] = [names(true), names(false)]
  return [
    ...(fresh === '' ? [] : [`requested review from ${fresh}`]),
    ...(gone === '' ? [] : [`removed review request for ${gone}`]),
  ].join(' and ')
}

const PARTS = {
  merge_request_assignees: { todo: 'assigned', note: 'assignee', says: says.reassigned },
  merge_request_reviewers: { todo: 'review_requested', note: 'reviewer', says: reviewing },
} as const

async function give(
  deed: MergeRequestDeed,
  id: number,
  part: Part,
  wanted: readonly number[] | undefined,
): Promise<Given[]> {
  if (wanted === undefined) return []
  const { db, project } = deed
  const changes = await giveParts(db, id, part, await readersOfCode(db, project, wanted))
  if (changes.length === 0) return []
  await notifyAssigned(deed, id, PARTS[part].todo, changes)
  if (deed.quiet !== true) await writeNote(deed, id, PARTS[part].note, PARTS[part].says(changes))
  return changes
}

/** Writes the system notes of a change, one for each changed column. */
async function tell(deed: MergeRequestDeed, before: MergeRequest, after: MergeRequestFields): Promise<void> {
  const common = commonSentences(deed.db, 'merge request', before, after)
  await writeSentences(deed, before.id, [
    common.title,
    common.description,
    [
      before.target_branch !== after.target_branch,
      'branch',
      () => `changed target branch from \`${before.target_branch}\` to \`${after.target_branch}\``,
    ],
    common.milestone,
    common.locked,
    common.state,
  ])
}
