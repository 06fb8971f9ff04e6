import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { recordState } from '../conversation/resource_events.ts'
import { recordEvents } from '../../outbox/record.ts'
import { issueEvent } from './issue_events.ts'
import { writeSystemNote } from '../conversation/system_notes.ts'
import { finishTodos } from '../conversation/todos.ts'

const WORD = '(?:clos(?:e[sd]?|ing)|fix(?:e[sd]|ing)?|resolv(?:e[sd]?|ing)|implement(?:s|ed|ing)?)'
// Blanks are counted: whoever writes a million of them must not be waited for.
const REF = String.raw`(?:issues? {1,4})?(?:\w[\w./-]{0,254})?#\d{1,9}`
const PHRASE = new RegExp(
  String.raw`\b${WORD}:? {1,4}${REF}(?:(?: {0,4},? {1,4}and {1,4}| {0,4}, {0,4})${REF})*`,
  'gi',
)
/** More than this nobody closes at once. */
const MAX_CLOSED_ISSUES = 100

/** An issue that a text says it closes; `path` is of its project, undefined for the one the text is in. */
interface Closing {
  readonly path: string | undefined
  readonly iid: number
}

/** The issues that a text says it closes: `Closes #1, #2 and group/project#3`. */
export function closingIn(text: string): Closing[] {
  const found = new Map<string, Closing>()
  for (const [phrase] of text.matchAll(PHRASE))
    for (const [ref, path = '', iid] of phrase.matchAll(/([\w./-]*)#(\d+)/g)) {
      found.set(ref, { path: path === '' ? undefined : path, iid: Number(iid) })
      if (found.size === MAX_CLOSED_ISSUES) return [...found.values()]
    }
  return [...found.values()]
}

/** The iids of those of the same project. */
export const closedBy = (texts: readonly string[]): number[] =>
  [
    ...new Set(
      texts.flatMap((text) => closingIn(text).flatMap(({ path, iid }) => (path === undefined ? [iid] : []))),
    ),
  ].slice(0, MAX_CLOSED_ISSUES)

interface Closed {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly confidential: boolean
}
const close = statement(
  (p: Slots<{ project_id: number; iids: readonly number[]; user_id: number | null }>) => sql<Closed>`
    update issues set state = 'closed', closed_at = now(), closed_by_id = ${p.user_id}, updated_at = now()
     where project_id = ${p.project_id} and iid = any(${p.iids}::int[]) and state = 'opened'
    returning id, iid, project_id, confidential`,
)

interface Deed {
  readonly project_id: number
  readonly user_id: number | null
  /** The cause of the closing, such as `merge request !1`. */
  readonly via: string
  /** The project whose code that is, where only its readers are to be told of it. */
  readonly code_of?: number
  /** The merge request of that project that closes them. */
  readonly merge_request_id?: number
}

/** Closes those of the issues that are open. Call inside the transaction of the deed. */
export async function closeIssues(db: Db, iids: readonly number[], deed: Deed): Promise<void> {
  if (iids.length === 0) return
  const { project_id, user_id, via, code_of, merge_request_id } = deed
  const closed = await db.rows(close, { project_id, iids, user_id })
  const ids = closed.map(({ id }) => id)
  const state = { previous: 'opened', current: 'closed' }
  await recordEvents(
    db,
    closed.map((issue) => issueEvent(issue, { action: 'close', author_id: user_id, changes: { state } })),
  )
  await finishTodos(db, ids, user_id)
  for (const id of ids) {
    await recordState(db, { noteable_id: id, user_id, state: 'closed' })
    await writeSystemNote(db, {
      noteable_id: id,
      author_id: user_id,
      action: 'closed',
      body: `closed via ${via}`,
      ...(code_of !== undefined && { mentions_project_id: code_of, mentions_code: true }),
      ...(merge_request_id !== undefined && { mentions_noteable_id: merge_request_id }),
    })
  }
}
