import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { statement, type Slots } from '../db/statement.ts'
import { writeSystemNote } from './system_notes.ts'
import { finishTodos } from './todos.ts'

interface Approval {
  readonly id: number
  readonly user_id: number
}
const insert = statement(
  (p: Slots<Approval>) => sql`
    insert into merge_request_approvals (merge_request_id, user_id) values (${p.id}, ${p.user_id})
    on conflict do nothing`,
)
const remove = statement(
  (p: Slots<Approval>) => sql`
    delete from merge_request_approvals where merge_request_id = ${p.id} and user_id = ${p.user_id}`,
)

/** Approves an open merge request, with the sentence under it. Says whether the user had not before. */
export async function approve(db: Db, { id, user_id }: Approval): Promise<boolean> {
  if ((await db.run(insert, { id, user_id })) === 0) return false
  await writeSystemNote(db, {
    noteable_id: id,
    author_id: user_id,
    action: 'approved',
    body: 'approved this merge request',
  })
  await finishTodos(db, [id], user_id)
  return true
}

/** Takes an approval back, with the sentence under it. Says whether there was one. */
export async function unapprove(db: Db, { id, user_id }: Approval): Promise<boolean> {
  if ((await db.run(remove, { id, user_id })) === 0) return false
  await writeSystemNote(db, {
    noteable_id: id,
    author_id: user_id,
    action: 'unapproved',
    body: 'unapproved this merge request',
  })
  return true
}
