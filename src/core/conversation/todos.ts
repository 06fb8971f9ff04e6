import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'

export type TodoAction =
  | 'assigned'
  | 'mentioned'
  | 'directly_addressed'
  | 'marked'
  | 'review_requested'
  | 'approval_required'
  | 'build_failed'

/** To-do items and their reasons. */
export interface NewTodo {
  readonly noteable_id: number
  readonly project_id: number | null
  readonly group_id: number | null
  readonly note_id: number | null
  /** The author of the act. */
  readonly author_id: number
  readonly action: TodoAction
}

const insert = statement(
  (p: Slots<NewTodo & { user_ids: readonly number[] }>) => sql<{ id: number }>`
    insert into todos (user_id, author_id, project_id, group_id, noteable_id, note_id, action_name)
    select u.id, ${p.author_id}, ${p.project_id}, ${p.group_id}, ${p.noteable_id}, ${p.note_id}, ${p.action}
      from users u
     where u.id = any(${p.user_ids}::bigint[]) and u.state = 'active' and u.user_type = 'human'
       and (u.id <> ${p.author_id} or ${p.action}::text = 'marked')
     order by u.id
        on conflict (noteable_id, user_id) where state = 'pending' do nothing
    returning id`,
)

/**
 * Puts a record on the lists of those users, who must be able to see it; not on the list of whose deed it is, and not
 * where it is already. Call inside the transaction of the deed. Gives the ids of those made.
 */
export const addTodos = async (db: Db, userIds: readonly number[], todo: NewTodo): Promise<number[]> =>
  userIds.length === 0 ? [] : (await db.rows(insert, { ...todo, user_ids: userIds })).map(({ id }) => id)

interface Seen {
  readonly noteable_ids: readonly number[]
  readonly user_id: number
  /** Whether that goes for what was asked for in this transaction too. */
  readonly all: boolean
}
const done = statement(
  (p: Slots<Seen>) => sql`
    update todos set state = 'done', updated_at = now()
     where noteable_id = any(${p.noteable_ids}::bigint[]) and user_id = ${p.user_id} and state = 'pending'
       and (${p.all}::boolean or created_at <> now())`,
)

/**
 * Acting on records completes the actor's to-do items; null is no actor. Items that the same text creates stay. Call
 * inside the transaction of the act.
 */
export async function finishTodos(
  db: Db,
  noteableIds: readonly number[],
  userId: number | null,
): Promise<void> {
  if (userId !== null && noteableIds.length > 0)
    await db.run(done, { noteable_ids: noteableIds, user_id: userId, all: false })
}

/** Completes a user's to-do items of a record. Returns how many. */
export const dismissTodos = (db: Db, noteableId: number, userId: number): Promise<number> =>
  db.run(done, { noteable_ids: [noteableId], user_id: userId, all: true })

/** Columns whose change completes to-do items; epics have no milestone. */
interface Telling {
  readonly title: string
  readonly description: string | null
  readonly state: string
  readonly milestone_id?: number | null
}
/** Whether a change is one of those that end reminders, as published; labels and people are known elsewhere. */
export const isSeenTo = (before: Telling, after: Telling): boolean =>
  before.title !== after.title ||
  (before.description ?? '') !== (after.description ?? '') ||
  before.milestone_id !== after.milestone_id ||
  (before.state !== 'closed' && after.state === 'closed')
