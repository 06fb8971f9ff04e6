import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'

/** System notes: what the server writes about changes of a record. */
export interface SystemNote {
  readonly noteable_id: number
  /** The author of the change. */
  readonly author_id: number | null
  /** The kind of change, such as `closed`, `reopened`, `milestone`, `assignee`, `title`, `locked`. */
  readonly action: string
  readonly body: string
  /** Another project that the sentence names: whoever does not see that does not read it. */
  readonly mentions_project_id?: number
  /** Whether it tells of that project's code: whoever does not read that does not read it either. */
  readonly mentions_code?: true
  /** The issue or merge request of that project that the sentence names: read by those who see that. */
  readonly mentions_noteable_id?: number
}

const insert = statement(
  (
    p: Slots<
      Omit<SystemNote, `mentions_${string}`> & {
        key: string
        mentions: number | null
        code: boolean
        noteable: number | null
      }
    >,
  ) => sql`
    with thread as (
      insert into discussions (key, noteable_id, individual_note, mentions_project_id, mentions_code, mentions_noteable_id)
      values (${p.key}, ${p.noteable_id}, true, ${p.mentions}, ${p.code}, ${p.noteable})
      returning id
    )
    insert into notes (discussion_id, noteable_id, author_id, body, system_action, mentions_project_id, mentions_code,
                       mentions_noteable_id)
    select id, ${p.noteable_id}, ${p.author_id}, ${p.body}, ${p.action}, ${p.mentions}, ${p.code}, ${p.noteable} from thread`,
)

/** Writes it down. Call inside the transaction of the deed. */
export async function writeSystemNote(db: Db, note: SystemNote): Promise<void> {
  const {
    mentions_project_id: mentions = null,
    mentions_code: code = false,
    mentions_noteable_id: noteable = null,
    ...said
  } = note
  await db.run(insert, { ...said, mentions, code, noteable, key: randomBytes(20).toString('hex') })
}
