import { Type as t, type Static } from 'typebox'
import type { NoteableKind } from '../../core/conversation/noteable.ts'
import type { PushData } from '../../core/pushes/push_events.ts'
import { nullable, moment } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { Note, presentNote, type NoteWithPeople } from '../../records/conversation/note.ts'
import { UserBasic, presentUser, type Author } from '../../records/people/user.ts'

const PushPayload = t.Object({
  commit_count: t.Integer(),
  action: t.String({ description: '`created`, `pushed` or `removed`' }),
  ref_type: t.String({ description: '`branch` or `tag`' }),
  commit_from: nullable(t.String()),
  commit_to: nullable(t.String()),
  ref: t.String(),
  commit_title: nullable(t.String()),
  ref_count: nullable(t.Integer({ description: 'Of a push that moved many refs' })),
})

export const Event = t.Object({
  id: t.Integer(),
  project_id: nullable(t.Integer()),
  action_name: t.String(),
  target_id: nullable(t.Integer()),
  target_iid: nullable(t.Integer()),
  target_type: nullable(t.String()),
  author_id: t.Integer(),
  target_title: nullable(t.String()),
  created_at: moment(),
  note: t.Optional(Note),
  author: UserBasic,
  author_username: t.String(),
  push_data: t.Optional(PushPayload),
  imported: t.Boolean(),
  imported_from: t.String(),
})

export interface EventRow {
  readonly id: number
  readonly created_at: Date
  readonly kind: string
  readonly action: string
  readonly activity: string
  readonly project_id: number | null
  readonly target_type: string | null
  readonly target_id: number | null
  readonly target_iid: number | null
  readonly noteable_kind: NoteableKind | null
  readonly noteable_id: number | null
  readonly noteable_iid: number | null
  readonly target_title: string | null
  readonly author: Author
  readonly data: object
}

const TYPES: Readonly<Record<string, string>> = {
  issue: 'Issue',
  merge_request: 'MergeRequest',
  milestone: 'Milestone',
  note: 'Note',
}
const OPENED = new Set(['issue', 'merge_request', 'milestone'])
const PUSHES: Readonly<Record<string, string>> = { created: 'pushed new', removed: 'deleted' }

function actionName({ kind, action, activity }: EventRow): string {
  if (kind === 'push' || kind === 'tag_push') return PUSHES[action] ?? 'pushed to'
  if (activity === 'created' && OPENED.has(kind)) return 'opened'
  if (activity === 'merged') return 'accepted'
  return activity === 'commented' ? 'commented on' : activity
}

function pushPayload(row: EventRow): Static<typeof PushPayload> {
  // `recordPush` wrote it.
  const data = row.data as PushData
  return {
    commit_count: data.commit_count,
    action: row.action,
    ref_type: row.kind === 'push' ? 'branch' : 'tag',
    commit_from: data.before,
    commit_to: data.after,
    ref: data.ref.replace(/^refs\/(heads|tags)\//, ''),
    commit_title: data.commit_title,
    ref_count: data.ref_count,
  }
}

/** `note` is what the event's user said, where it is about that. */
export function presentEvent(
  row: EventRow,
  note: NoteWithPeople | undefined,
  site: Pick<Instance, 'config'>,
): Static<typeof Event> {
  const type = row.target_type === null ? undefined : TYPES[row.target_type]
  return {
    id: row.id,
    project_id: row.project_id,
    action_name: actionName(row),
    target_id: type === undefined ? null : row.target_id,
    target_iid: type === undefined ? null : (row.target_iid ?? row.target_id),
    target_type: (type === 'Note' ? note?.type : undefined) ?? type ?? null,
    author_id: row.author.id,
    target_title: row.target_title,
    created_at: row.created_at,
    ...(note !== undefined && { note: presentNote(note, noteableOf(row), site) }),
    author: presentUser(row.author, site),
    author_username: row.author.username,
    ...(row.activity === 'pushed' && { push_data: pushPayload(row) }),
    imported: false,
    imported_from: 'none',
  }
}

const noteableOf = (row: EventRow): Parameters<typeof presentNote>[1] => ({
  id: row.noteable_id ?? 0,
  kind: row.noteable_kind ?? 'commit',
  iid: row.noteable_iid,
  project_id: row.project_id,
  group_id: null,
  author_id: null,
  locked: false,
  confidential: false,
})
