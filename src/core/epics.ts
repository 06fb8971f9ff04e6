import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import type { Epic } from '../db/schema_planning.ts'
import { statement, type Slots } from '../db/statement.ts'
import { nextInGroup } from './counters.ts'

export interface NewEpic {
  readonly group_id: number
  readonly author_id: number | null
  readonly title: string
  readonly description: string | null
  readonly confidential: boolean
  readonly parent_id: number | null
  readonly start_date: string | null
  readonly due_date: string | null
  readonly color: string | null
  /** Null stands for now. */
  readonly created_at: string | null
}

const insert = statement(
  (p: Slots<NewEpic & { iid: number }>) => sql<Epic>`
    insert into epics (iid, group_id, author_id, title, description, confidential, parent_id, start_date, due_date,
                       color, created_at, updated_at)
    values (${p.iid}, ${p.group_id}, ${p.author_id}, ${p.title}, ${p.description}, ${p.confidential}, ${p.parent_id},
            ${p.start_date}, ${p.due_date}, coalesce(${p.color}, '#1068bf'),
            coalesce(${p.created_at}::timestamptz, now()), coalesce(${p.created_at}::timestamptz, now()))
    returning *`,
)

/** Makes an epic. Call inside a transaction. */
export async function createEpic(db: Db, epic: NewEpic): Promise<Epic> {
  const iid = await nextInGroup(db, epic.group_id, 'epics')
  const row = await db.one(insert, { ...epic, iid })
  if (row === undefined) throw new Error('an epic was not inserted')
  return row
}
