import type { Db } from '../../db/db.ts'
import { recordMilestone, recordState } from '../conversation/resource_events.ts'
import * as says from '../conversation/system_note_sentences.ts'
import { writeSystemNote } from '../conversation/system_notes.ts'
import { addTodos } from '../conversation/todos.ts'
import { milestoneTitle } from './milestones.ts'

// System notes, events and to-do items that a change of an issue and of a merge request share.

interface Author {
  readonly db: Db
  readonly actor: { readonly id: number }
}
interface Columns {
  readonly title: string
  readonly description: string | null
  readonly state: 'opened' | 'closed' | 'merged' | 'locked'
  readonly milestone_id: number | null
  readonly discussion_locked: boolean
}

/** Whether a system note is due, its action, and its text. */
export type Sentence = readonly [due: boolean, action: string, body: () => string | Promise<string>]

/** The system notes of the columns that both kinds have. */
export function commonSentences(
  db: Db,
  noun: 'issue' | 'merge request',
  before: Columns,
  after: Columns,
): Record<'title' | 'description' | 'milestone' | 'locked' | 'state', Sentence> {
  const state = after.state === 'closed' ? 'closed' : 'reopened'
  return {
    title: [before.title !== after.title, 'title', () => says.retitled(before.title, after.title)],
    description: [
      (before.description ?? '') !== (after.description ?? ''),
      'description',
      () => 'changed the description',
    ],
    milestone: [
      before.milestone_id !== after.milestone_id,
      'milestone',
      async () =>
        after.milestone_id === null
          ? says.milestoneRemoved(await milestoneTitle(db, before.milestone_id ?? 0))
          : says.milestoneSet(await milestoneTitle(db, after.milestone_id)),
    ],
    locked: [
      before.discussion_locked !== after.discussion_locked,
      after.discussion_locked ? 'locked' : 'unlocked',
      () => says.lockedIn(after.discussion_locked, noun),
    ],
    state: [before.state !== after.state, state, () => state],
  }
}

/** Writes the sentences that are due as system notes, in their order. */
export async function writeSentences(
  author: Author,
  noteableId: number,
  sentences: readonly Sentence[],
): Promise<void> {
  for (const [due, action, body] of sentences)
    if (due) await writeNote(author, noteableId, action, await body())
}

export const writeNote = (
  { db, actor }: Author,
  noteableId: number,
  action: string,
  body: string,
): Promise<void> => writeSystemNote(db, { noteable_id: noteableId, author_id: actor.id, action, body })

/** Writes the events of milestone and state, which charts and timelines are drawn from. */
export async function recordCommonEvents(
  { db, actor }: Author,
  before: Columns & { readonly id: number },
  after: Columns,
): Promise<void> {
  const event = { noteable_id: before.id, user_id: actor.id }
  await recordMilestone(
    db,
    { ...event, state: after.state },
    { from: before.milestone_id, to: after.milestone_id },
  )
  if (before.state !== after.state)
    await recordState(db, { ...event, state: after.state === 'closed' ? 'closed' : 'reopened' })
}

/** Gives newly assigned people their to-do items. */
export async function notifyAssigned(
  { db, actor, project }: Author & { readonly project: { readonly id: number } },
  noteableId: number,
  action: 'assigned' | 'review_requested',
  changes: readonly { readonly id: number; readonly added: boolean }[],
): Promise<void> {
  const fresh = changes.filter(({ added }) => added).map(({ id }) => id)
  const item = { noteable_id: noteableId, project_id: project.id, group_id: null, note_id: null }
  await addTodos(db, fresh, { ...item, author_id: actor.id, action })
}
