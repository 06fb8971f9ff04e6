import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { statement, type Slots } from '../db/statement.ts'

/** What the service itself says about a record, beside what people write there. */
export interface SystemNote {
  readonly noteable_id: number
  /** Whose deed it tells of. */
  readonly author_id: number | null
  /** What kind of deed, such as `closed`, `reopened`, `milestone`, `assignee`, `title`, `locked`. */
  readonly action: string
  readonly body: string
}

const insert = statement(
  (p: Slots<SystemNote & { key: string }>) => sql`
    with thread as (
      insert into discussions (key, noteable_id, individual_note)
      values (${p.key}, ${p.noteable_id}, true)
      returning id
    )
    insert into notes (discussion_id, noteable_id, author_id, body, system_action)
    select id, ${p.noteable_id}, ${p.author_id}, ${p.body}, ${p.action} from thread`,
)

/** Writes it down. Call inside the transaction of the deed. */
export async function writeSystemNote(db: Db, note: SystemNote): Promise<void> {
  await db.run(insert, { ...note, key: randomBytes(20).toString('hex') })
}
