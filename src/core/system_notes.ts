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
  /** Another project that the sentence names: whoever does not see that does not read it. */
  readonly mentions_project_id?: number
}

const insert = statement(
  (
    p: Slots<Required<Omit<SystemNote, 'mentions_project_id'>> & { key: string; mentions: number | null }>,
  ) => sql`
    with thread as (
      insert into discussions (key, noteable_id, individual_note, mentions_project_id)
      values (${p.key}, ${p.noteable_id}, true, ${p.mentions})
      returning id
    )
    insert into notes (discussion_id, noteable_id, author_id, body, system_action, mentions_project_id)
    select id, ${p.noteable_id}, ${p.author_id}, ${p.body}, ${p.action}, ${p.mentions} from thread`,
)

/** Writes it down. Call inside the transaction of the deed. */
export async function writeSystemNote(db: Db, { mentions_project_id, ...note }: SystemNote): Promise<void> {
  const key = randomBytes(20).toString('hex')
  await db.run(insert, { ...note, mentions: mentions_project_id ?? null, key })
}
