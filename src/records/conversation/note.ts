import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import type { Noteable } from '../../core/conversation/noteable.ts'
import type { Note as NoteRow } from '../../db/schema/conversation.ts'
import { nullable, moment } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { UserBasic, authorJson, presentUser, type Author } from '../people/user.ts'

const lineEnd = t.Object({
  line_code: nullable(t.String()),
  type: nullable(t.String()),
  old_line: nullable(t.Integer()),
  new_line: nullable(t.Integer()),
})

/** Where in a difference a note stands. */
const Position = t.Object({
  base_sha: t.String(),
  start_sha: t.String(),
  head_sha: t.String(),
  old_path: nullable(t.String()),
  new_path: nullable(t.String()),
  position_type: t.String(),
  old_line: t.Optional(nullable(t.Integer())),
  new_line: t.Optional(nullable(t.Integer())),
  line_range: t.Optional(nullable(t.Object({ start: lineEnd, end: lineEnd }))),
  width: t.Optional(nullable(t.Integer())),
  height: t.Optional(nullable(t.Integer())),
  x: t.Optional(nullable(t.Number())),
  y: t.Optional(nullable(t.Number())),
})

export const Note = t.Object({
  id: t.Integer(),
  type: nullable(t.String()),
  body: t.String(),
  attachment: nullable(t.String()),
  author: nullable(UserBasic),
  created_at: moment(),
  updated_at: moment(),
  system: t.Boolean(),
  noteable_id: t.Integer(),
  noteable_type: t.String(),
  project_id: nullable(t.Integer()),
  commit_id: t.Optional(nullable(t.String())),
  position: t.Optional(Position),
  resolvable: t.Boolean(),
  resolved: t.Optional(t.Boolean()),
  resolved_by: t.Optional(nullable(UserBasic)),
  resolved_at: t.Optional(nullable(moment())),
  suggestions: t.Optional(t.Array(t.Unsafe<never>({ type: 'object' }))),
  confidential: t.Boolean({ deprecated: true, description: 'The older name of `internal`' }),
  internal: t.Boolean(),
  imported: t.Boolean(),
  imported_from: t.String(),
  noteable_iid: nullable(t.Integer()),
  commands_changes: t.Unsafe<Record<string, unknown>>({ type: 'object', additionalProperties: true }),
})

export type NoteWithPeople = NoteRow & {
  readonly author: Author | null
  readonly resolved_by: Author | null
}

/** The columns of a note `n` that `presentNote` needs. */
export const noteColumns: RawBuilder<NoteWithPeople> = sql`
  n.*, ${authorJson(sql`n.author_id`)} as author, ${authorJson(sql`n.resolved_by_id`)} as resolved_by`

const TYPES = {
  issue: 'Issue',
  merge_request: 'MergeRequest',
  snippet: 'Snippet',
  epic: 'Epic',
  commit: 'Commit',
} as const

/** Published names of noteable kinds. */
export const noteableType = ({ kind }: Pick<Noteable, 'kind'>): string => TYPES[kind]

/** Whether a note can be marked as settled: those of threads on merge requests. */
export const isResolvable = (
  note: Pick<NoteRow, 'type' | 'system_action'>,
  about: Pick<Noteable, 'kind'>,
): boolean => about.kind === 'merge_request' && note.type !== null && note.system_action === null

/** Presents a note. `changes` are the effects of the commands in its text. */
export function presentNote(
  note: NoteWithPeople,
  about: Noteable,
  site: Pick<Instance, 'config'>,
  changes: Record<string, unknown> = {},
): Static<typeof Note> {
  const { kind } = about
  const diff = note.type === 'DiffNote' && note.diff_position !== null
  return {
    id: note.id,
    type: note.type,
    body: note.body,
    attachment: null,
    author: note.author && presentUser(note.author, site),
    created_at: note.created_at,
    updated_at: note.updated_at,
    system: note.system_action !== null,
    noteable_id: note.noteable_id,
    noteable_type: TYPES[kind],
    project_id: about.project_id,
    ...(kind === 'merge_request' && note.type !== null && { commit_id: note.commit_id }),
    ...(diff && { position: note.diff_position as Static<typeof Position>, suggestions: [] }),
    ...resolution(note, about, site),
    confidential: note.internal,
    internal: note.internal,
    imported: false,
    imported_from: 'none',
    noteable_iid: kind === 'issue' || kind === 'merge_request' ? about.iid : null,
    commands_changes: changes,
  }
}

function resolution(
  note: NoteWithPeople,
  about: Noteable,
  site: Pick<Instance, 'config'>,
): Pick<Static<typeof Note>, 'resolvable' | 'resolved' | 'resolved_by' | 'resolved_at'> {
  if (!isResolvable(note, about)) return { resolvable: false }
  return {
    resolvable: true,
    resolved: note.resolved_at !== null,
    resolved_by: note.resolved_by && presentUser(note.resolved_by, site),
    resolved_at: note.resolved_at,
  }
}

export const Discussion = t.Object({
  id: t.String(),
  individual_note: t.Boolean(),
  notes: t.Array(Note),
})
