import type { IncomingHttpHeaders } from 'node:http'
import type { Db } from '../db/db.ts'
import { isOvertaken } from '../db/errors.ts'
import { names, tagOf } from './answers/etags.ts'
import type { Context } from './gate.ts'
import { gatesOf, type NamedOperation } from './operation.ts'
import { preconditionFailed } from './problems.ts'

/** The text that a GET of the same path answers with now; undefined when it has none. */
export type Represent = () => Promise<string | undefined>

/** Whether the caller wants the write only if the record is still what it was. */
export const isConditional = ({ method }: NamedOperation, headers: IncomingHttpHeaders): boolean =>
  method !== 'POST' &&
  method !== 'GET' &&
  (headers['if-match'] !== undefined || headers['if-unmodified-since'] !== undefined)

/**
 * Compiles the check of `If-Unmodified-Since` against the record of the last loading gate. The header counts whole
 * seconds; an unreadable date is no condition, as published. The check throws 412.
 */
export function compileUnmodified(op: NamedOperation): (ctx: Context & Record<string, unknown>) => void {
  const name = recordOf(op)
  if (name === undefined) return () => {}
  return (ctx) => {
    const since = Date.parse(ctx.header('if-unmodified-since') ?? '')
    const { updated_at: changed } = (ctx[name] ?? {}) as { readonly updated_at?: unknown }
    if (Number.isNaN(since) || !(changed instanceof Date)) return
    if (Math.floor(changed.getTime() / 1000) * 1000 > since) throw preconditionFailed()
  }
}

/** The context name of the record that a PUT, PATCH or DELETE is about. */
export const recordOf = (op: NamedOperation): string | undefined =>
  op.method === 'GET' || op.method === 'POST'
    ? undefined
    : gatesOf(op).findLast(({ as }) => as !== undefined)?.as

/** Whether the record of a write is, in two contexts of it, the same row. */
export function isSameRecord(
  op: NamedOperation,
  one: Readonly<Record<string, unknown>>,
  other: Readonly<Record<string, unknown>>,
): boolean {
  const name = recordOf(op)
  return name === undefined || JSON.stringify(one[name]) === JSON.stringify(other[name])
}

/**
 * Runs a conditional write on one snapshot: whoever changes the record after `work` looked at it, with a condition or
 * without, makes the database refuse the write, and the answer is 412.
 */
export const onSnapshot = <Result>(db: Db, work: (tx: Db) => Promise<Result>): Promise<Result> =>
  db.transaction(work, { snapshot: true }).catch((error: unknown) => {
    throw isOvertaken(error) ? preconditionFailed() : error
  })

/** Throws 412 when `If-Match` does not name the record as it stands. A path without a GET gives no tag away. */
export async function checkMatch(
  wanted: string | undefined,
  represent: Represent | undefined,
): Promise<void> {
  if (wanted === undefined) return
  const text = await represent?.()
  if (wanted.trim() === '*' && represent === undefined) return
  if (text === undefined || !names(wanted, tagOf(text))) throw preconditionFailed()
}
