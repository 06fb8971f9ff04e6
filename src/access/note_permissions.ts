import { Type as t } from 'typebox'
import { findDiscussion, findNote } from '../core/conversation/note_reading.ts'
import { ROLES } from '../core/sight/roles.ts'
import type { Note } from '../db/schema/conversation.ts'
import { allows, loads, type Actor, type Has } from '../http/gate.ts'
import { forbidden, notFound } from '../http/problems.ts'
import type { Here } from './conversation_records.ts'

// Rights to read, write, change and resolve notes on a noteable.

/** Signed in, in front of something to talk about. */
export type Commenting = Here & { readonly actor: Actor }

const member = ({ reader }: Here): boolean => reader.viewer?.admin === true || reader.role >= ROLES.guest

/** Whether the reader may say anything about it: what is locked is for members alone. */
export const mayComment = (here: Here): boolean =>
  here.reader.viewer !== null && (!here.noteable.locked || member(here))

export const canComment = allows({
  says: 'the right to comment; only members while the discussion is locked',
  refuses: forbidden,
  holds: (here: Has<Here>) => mayComment(here),
})

/** A thread about it that the caller sees. */
export const discussion = loads({
  param: 'discussion_id',
  type: t.String(),
  as: 'discussion',
  says: 'a thread that the caller can see',
  missing: () => notFound('Discussion'),
  find: ({ db, noteable, reader }: Has<Here>, key) => findDiscussion(db, noteable, reader, key),
})

/** A note on it that the caller sees. */
export const note = loads({
  param: 'note_id',
  type: t.Integer(),
  as: 'note',
  says: 'a note that the caller can see',
  find: ({ db, noteable, reader }: Has<Here>, id) => findNote(db, noteable, reader, id),
})

const manages = (here: Here): boolean =>
  here.reader.viewer?.admin === true || here.reader.role >= ROLES.maintainer

/** Whether the reader may change or delete the note; what the service wrote, nobody may. */
export const mayEdit = (here: Here, row: Pick<Note, 'author_id' | 'system_action'>): boolean =>
  row.system_action === null &&
  mayComment(here) &&
  (manages(here) || (row.author_id !== null && row.author_id === here.reader.viewer?.id))

export const editsNote = allows({
  says: 'the author, or at least Maintainer; system notes are read-only',
  refuses: forbidden,
  holds: (here: Has<Here & { note: Note }>) => mayEdit(here, here.note),
})

/** Whether the reader may settle threads: from Developer on, or as the author of what they are about. */
export const mayResolve = (here: Here): boolean => {
  const { viewer, role } = here.reader
  if (viewer === null || !mayComment(here)) return false
  return viewer.admin || role >= ROLES.developer || here.noteable.author_id === viewer.id
}

/** Whether the reader may say when a note was written: administrators and owners. */
export const maySetTime = ({ reader }: Here): boolean =>
  reader.viewer?.admin === true || reader.role >= ROLES.owner
