import type { Db } from '../../db/db.ts'
import type { Note } from '../../db/schema/conversation.ts'
import { recordEvents, type OutboxEvent } from '../../outbox/record.ts'
import type { Noteable } from './noteable.ts'

/** Where the event of something said or reacted to belongs. */
const placeOf = (
  about: Noteable,
): Pick<OutboxEvent, 'project_id' | 'group_id' | 'noteable_kind' | 'noteable_id'> => ({
  project_id: about.project_id,
  group_id: about.group_id,
  noteable_kind: about.kind,
  noteable_id: about.id,
})

/** Records that a user said something, or changed what they said. */
export async function recordNote(
  db: Db,
  about: Noteable,
  note: Pick<Note, 'id' | 'author_id' | 'internal'>,
  action: 'create' | 'update',
): Promise<void> {
  await recordEvents(db, [
    {
      ...placeOf(about),
      kind: 'note',
      action,
      activity: action === 'create' ? 'commented' : undefined,
      author_id: note.author_id,
      target_type: 'note',
      target_id: note.id,
      internal: note.internal,
      trigger: note.internal || about.confidential ? 'confidential_note_events' : 'note_events',
    },
  ])
}

interface Reaction {
  readonly id: number
  readonly name: string
  readonly user_id: number
  readonly note_id: number | null
}
/** Records that a user reacted, or took a reaction back. */
export async function recordReaction(
  db: Db,
  about: Noteable,
  reaction: Reaction & { readonly created_at: Date; readonly updated_at: Date },
  action: 'award' | 'revoke',
): Promise<void> {
  const { id, name, user_id, note_id, created_at, updated_at } = reaction
  await recordEvents(db, [
    {
      ...placeOf(about),
      kind: 'emoji',
      action,
      author_id: user_id,
      target_type: note_id === null ? about.kind : 'note',
      target_id: note_id ?? about.id,
      trigger: 'emoji_events',
      data: { award: { id, name, user_id, created_at, updated_at } },
    },
  ])
}
