import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { AwardEmoji, Note } from '../../db/schema/conversation.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Noteable } from './noteable.ts'
import { recordReaction } from './note_events.ts'
import { touchNoteable } from './notes.ts'
import { finishTodos } from './todos.ts'

/** The target of a reaction: a noteable, or a note on it. */
export interface Awardable {
  readonly noteable: Noteable
  readonly note?: Pick<Note, 'id'>
}

interface NewReaction {
  readonly name: string
  readonly user_id: number
  readonly noteable_id: number | null
  readonly note_id: number | null
}
const insert = statement(
  (p: Slots<NewReaction>) => sql<AwardEmoji>`
    insert into award_emoji (name, user_id, noteable_id, note_id)
    values (${p.name}, ${p.user_id}, ${p.noteable_id}, ${p.note_id})
    returning *`,
)
const touchNote = statement(
  (p: Slots<{ id: number }>) => sql`update notes set updated_at = clock_timestamp() where id = ${p.id}`,
)
const remove = statement(
  (p: Slots<{ id: number }>) => sql<AwardEmoji>`delete from award_emoji where id = ${p.id} returning *`,
)

const touch = async (db: Db, { noteable, note }: Awardable): Promise<number> =>
  note === undefined ? touchNoteable(db, noteable) : db.run(touchNote, { id: note.id })

/**
 * Reacts with the emoji of that name, one of `emojiName`. Violates `award_emoji_noteable_key` or `award_emoji_note_key`
 * when the user has done so before.
 */
export async function react(db: Db, on: Awardable, name: string, userId: number): Promise<AwardEmoji> {
  const { noteable, note } = on
  const place = { noteable_id: note ? null : noteable.id, note_id: note?.id ?? null }
  // The record first, as everybody does who writes about it: nobody waits for the other way round.
  await touch(db, on)
  const row = await db.insert(insert, { name, user_id: userId, ...place })
  await recordReaction(db, noteable, row, 'award')
  await finishTodos(db, [noteable.id], userId)
  return row
}

/** Takes a reaction back; false when somebody else has. */
export async function unreact(db: Db, on: Awardable, id: number): Promise<boolean> {
  await touch(db, on)
  const row = await db.one(remove, { id })
  if (row === undefined) return false
  await recordReaction(db, on.noteable, row, 'revoke')
  return true
}
