import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { statement, type Slots } from '../db/statement.ts'
import { recordState } from './resource_events.ts'
import { writeSystemNote } from './system_notes.ts'

const WORD = '(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)'
// Blanks are counted: whoever writes a million of them must not be waited for.
const REF = String.raw`(?:issues? {1,4})?#\d{1,9}`
const PHRASE = new RegExp(
  String.raw`\b${WORD}:? {1,4}${REF}(?:(?: {0,4},? {1,4}and {1,4}| {0,4}, {0,4})${REF})*`,
  'gi',
)
/** More than this nobody closes at once. */
const MOST = 100

/** The iids of issues of the same project that a text says it closes: `Closes #1, #2 and #3`. */
export function closedBy(texts: readonly string[]): number[] {
  const found = new Set<number>()
  for (const text of texts)
    for (const [phrase] of text.matchAll(PHRASE))
      for (const [, iid] of phrase.matchAll(/#(\d+)/g)) if (found.size < MOST) found.add(Number(iid))
  return [...found]
}

const close = statement(
  (p: Slots<{ project_id: number; iids: readonly number[]; user_id: number | null }>) => sql<{ id: number }>`
    update issues set state = 'closed', closed_at = now(), closed_by_id = ${p.user_id}, updated_at = now()
     where project_id = ${p.project_id} and iid = any(${p.iids}::int[]) and state = 'opened'
    returning id`,
)

interface Deed {
  readonly project_id: number
  readonly user_id: number | null
  /** What closes them, such as `merge request !1`. */
  readonly via: string
}

/** Closes those of the issues that are open. Call inside the transaction of the deed. */
export async function closeIssues(db: Db, iids: readonly number[], deed: Deed): Promise<void> {
  if (iids.length === 0) return
  const { project_id, user_id, via } = deed
  for (const { id } of await db.rows(close, { project_id, iids, user_id })) {
    await recordState(db, { noteable_id: id, user_id, state: 'closed' })
    await writeSystemNote(db, {
      noteable_id: id,
      author_id: user_id,
      action: 'closed',
      body: `closed via ${via}`,
    })
  }
}
