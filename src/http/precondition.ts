import type { Db } from '../db/client.ts'
import { lock } from '../db/lock.ts'
import { names, tagOf } from './etags.ts'
import { gatesOf, type Context, type NamedOperation } from './operation.ts'
import { preconditionFailed } from './problems.ts'

/** The text that a GET of the same path answers with now, read by `db`; undefined when it has none. */
export type Represent = (db: Db) => Promise<string | undefined>
/** Throws 412 when `If-Match` does not name the record as it stands. Runs first in the write's transaction. */
export type Precondition = (db: Db, ctx: Context, represent: Represent | undefined) => Promise<void>

/**
 * Of two writers with one tag the second waits here, under a lock on the path and the records its gates loaded,
 * and then finds the record changed. A path without a GET gives no tag away, so none can be right.
 */
export function compilePrecondition(op: NamedOperation): Precondition {
  const records = gatesOf(op).flatMap((gate) => gate.as ?? [])
  return async (db, ctx, represent) => {
    const wanted = ctx.header('if-match')
    if (wanted === undefined) return
    const ids = records.map((name) => (ctx as Context & Record<string, { id?: unknown }>)[name]?.id)
    await lock(db, JSON.stringify([op.path, ids]))
    const text = await represent?.(db)
    if (wanted.trim() === '*' && represent === undefined) return
    if (text === undefined || !names(wanted, tagOf(text))) throw preconditionFailed()
  }
}
