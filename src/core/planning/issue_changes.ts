import type { Db } from '../../db/db.ts'
import type { Issue } from '../../db/schema/planning.ts'
import {
  assignIssue,
  findEpicAbove,
  issueColumns,
  lockIssue,
  writeIssue,
  type IssueColumns,
  type Reassigned,
} from './issue_rows.ts'
import { recordIssue } from './issue_events.ts'
import { checkEpicOf } from './epic_secrecy.ts'
import * as says from '../conversation/system_note_sentences.ts'
import { changeLabels, labelMoves } from './labelling.ts'
import { findMilestone } from './milestones.ts'
import type { Project } from '../places/projects.ts'
import { readersAmong } from '../sight/readers.ts'
import { recordIteration, recordWeight } from '../conversation/resource_events.ts'
import { actionOf, changesBetween, movesOf } from '../../outbox/changes.ts'
import { ROLES } from '../sight/roles.ts'
import { finishTodos, isSeenTo } from '../conversation/todos.ts'
import {
  commonSentences,
  notifyAssigned,
  recordCommonEvents,
  writeNote,
  writeSentences,
} from './common_changes.ts'

/** New values of an issue; absent ones stay, null clears. */
export interface IssueChange {
  readonly title?: string | undefined
  readonly description?: string | null | undefined
  readonly state?: 'opened' | 'closed' | undefined
  readonly issue_type?: Issue['issue_type'] | undefined
  readonly confidential?: boolean | undefined
  readonly discussion_locked?: boolean | undefined
  readonly milestone_id?: number | null | undefined
  /** `given`: the id of one that the caller has found, in whatever group; others are looked for above the project. */
  readonly epic?: { readonly by: 'given' | 'id' | 'iid'; readonly value: number } | null | undefined
  /** Checked by the caller: an iteration that the project can use. */
  readonly iteration_id?: number | null | undefined
  readonly weight?: number | null | undefined
  readonly due_date?: string | null | undefined
  readonly assignee_ids?: readonly number[] | undefined
  readonly labels?: readonly string[] | undefined
  readonly add_labels?: readonly string[] | undefined
  readonly remove_labels?: readonly string[] | undefined
  readonly updated_at?: string | undefined
}

/** The author of the change, and the project. */
export interface IssueDeed {
  readonly db: Db
  readonly actor: { readonly id: number; readonly admin: boolean }
  readonly project: Pick<Project, 'id' | 'role' | 'traversal_ids'>
  readonly now: Date
  /** Set while an issue is made: nothing has changed yet that people would want to be told. */
  readonly quiet?: boolean
}

/** Planners, and whoever is above them, say what an issue is part of and whose it is. */
export const plans = ({ actor, project }: Pick<IssueDeed, 'actor' | 'project'>): boolean =>
  actor.admin || project.role >= ROLES.planner

/**
 * Changes an issue: its row, labels and assignees, with the events, sentences and reminders that go with it. Call inside
 * a transaction, having checked who may. A milestone or epic that the project does not have counts as none, and whoever
 * cannot see the issue is not given it. Says whether anything changed. Throws EpicMismatch.
 */
export async function changeIssue(deed: IssueDeed, issueId: number, to: IssueChange): Promise<boolean> {
  const { db, actor, project } = deed
  const before = await lockIssue(db, issueId)
  if (before === undefined) return false
  const after = await columnsAfter(deed, before, to)
  await checkEpicOf(db, before, after)
  const labelled = await changeLabels(
    db,
    {
      noteable_id: issueId,
      user_id: actor.id,
      project_id: project.id,
      line: project.traversal_ids,
      creates: plans(deed),
    },
    { set: to.labels, add: to.add_labels, remove: to.remove_labels },
  )
  const reassigned = await reassign(deed, { ...before, confidential: after.confidential }, to.assignee_ids)
  const changes = changesBetween(issueColumns(before), after)
  const isGiven = labelled.length + reassigned.length > 0
  const changed = Object.keys(changes).length > 0 || isGiven || to.updated_at !== undefined
  if (changed) await writeIssue(db, issueId, after, to.updated_at)
  if (deed.quiet !== true) await tell(deed, before, after)
  await record(deed, before, after)
  const isNew = deed.quiet === true
  if (changed || isNew)
    await recordIssue(
      db,
      { ...before, confidential: after.confidential },
      {
        action: actionOf(before, after, isNew),
        author_id: actor.id,
        changes: isNew ? {} : changes,
        labels: labelMoves(labelled),
        assignees: movesOf(reassigned),
      },
    )
  const isSeen = isGiven || isSeenTo(before, after)
  if (isSeen && deed.quiet !== true) await finishTodos(db, [issueId], actor.id)
  return changed
}

const kept = <T>(wanted: T | undefined, now: T): T => (wanted === undefined ? now : wanted)

async function columnsAfter(deed: IssueDeed, before: Issue, to: IssueChange): Promise<IssueColumns> {
  const now = issueColumns(before)
  const state = kept(to.state, now.state)
  const closing = state === now.state ? {} : closed(deed, state, to.updated_at)
  return {
    ...now,
    ...closing,
    state,
    title: kept(to.title, now.title),
    description: kept(to.description, now.description),
    issue_type: kept(to.issue_type, now.issue_type),
    confidential: kept(to.confidential, now.confidential),
    discussion_locked: kept(to.discussion_locked, now.discussion_locked),
    weight: kept(to.weight, now.weight),
    iteration_id: kept(to.iteration_id, now.iteration_id),
    due_date: kept(to.due_date, now.due_date),
    milestone_id: await milestoneAfter(deed, now.milestone_id, to.milestone_id),
    epic_id: await epicAfter(deed, now.epic_id, to.epic),
  }
}

const closed = (
  { actor, now }: IssueDeed,
  state: IssueColumns['state'],
  at: string = now.toISOString(),
): Pick<IssueColumns, 'closed_at' | 'closed_by_id'> =>
  state === 'closed' ? { closed_at: at, closed_by_id: actor.id } : { closed_at: null, closed_by_id: null }

async function milestoneAfter(
  { db, project }: IssueDeed,
  now: number | null,
  wanted: number | null | undefined,
): Promise<number | null> {
  if (wanted === undefined) return now
  return wanted === null ? null : ((await findMilestone(db, project, wanted))?.id ?? null)
}

async function epicAfter(
  deed: IssueDeed,
  now: number | null,
  wanted: IssueChange['epic'],
): Promise<number | null> {
  if (wanted === undefined) return now
  if (wanted === null) return null
  if (wanted.by === 'given') return wanted.value
  const who = { user_id: deed.actor.id, admin: deed.actor.admin }
  const ref = { by: wanted.by, value: wanted.value }
  return (await findEpicAbove(deed.db, deed.project.traversal_ids, who, ref))?.id ?? now
}

async function reassign(
  deed: IssueDeed,
  issue: Pick<Issue, 'id' | 'confidential'>,
  wanted: readonly number[] | undefined,
): Promise<Reassigned[]> {
  if (wanted === undefined) return []
  const { db, project } = deed
  const readers = await readersAmong(db, wanted, {
    id: issue.id,
    project_id: project.id,
    line: project.traversal_ids,
    // While it is made nobody has it yet: it may be given to any member, who sees it by that, as published.
    confidential: issue.confidential && deed.quiet !== true,
  })
  const changes = await assignIssue(
    db,
    issue.id,
    readers.map(({ id }) => id),
  )
  if (changes.length === 0) return []
  await notifyAssigned(deed, issue.id, 'assigned', changes)
  if (deed.quiet !== true) await writeNote(deed, issue.id, 'assignee', says.reassigned(changes))
  return changes
}

/** Writes the system notes of a change, one for each changed column. */
async function tell(deed: IssueDeed, before: Issue, after: IssueColumns): Promise<void> {
  const common = commonSentences(deed.db, 'issue', before, after)
  await writeSentences(deed, before.id, [
    common.title,
    common.description,
    [
      before.confidential !== after.confidential,
      after.confidential ? 'confidential' : 'visible',
      () => says.hidden(after.confidential),
    ],
    [before.due_date !== after.due_date, 'due_date', () => says.dueOn(before.due_date, after.due_date)],
    [before.weight !== after.weight, 'weight', () => says.weighs(after.weight)],
    common.milestone,
    [before.iteration_id !== after.iteration_id, 'iteration', () => says.iterationSet(after.iteration_id)],
    common.locked,
    common.state,
  ])
}

/** Writes the events that charts and timelines are drawn from. */
async function record(deed: IssueDeed, before: Issue, after: IssueColumns): Promise<void> {
  const event = { noteable_id: before.id, user_id: deed.actor.id }
  await recordIteration(deed.db, event, { from: before.iteration_id, to: after.iteration_id })
  if (before.weight !== after.weight) await recordWeight(deed.db, { ...event, weight: after.weight })
  await recordCommonEvents(deed, before, after)
}
