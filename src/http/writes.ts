import type { Db } from '../db/db.ts'
import type { Instance } from '../instance.ts'
import type { AnyContext } from './entry.ts'
import type { Transact } from './gate.ts'
import type { Attempt } from './idempotency/attempt.ts'
import type { NamedOperation } from './operation.ts'
import { isSameRecord, onSnapshot } from './precondition.ts'
import { preconditionFailed } from './problems.ts'

/** Milliseconds for which the answer of the gates holds while a write waits for the lock of its refs. */
const JUDGED_AGAIN_MS = 200

interface Write {
  readonly instance: Instance
  readonly ctx: AnyContext
  /** Signs in and passes the gates again; the context that gives. */
  readonly enterAgain: (db: Db) => Promise<AnyContext>
  readonly matches: (db: Db) => Promise<void>
  readonly conditional: boolean
  /** Set for a request with an `Idempotency-Key`. */
  readonly attempt: Attempt | undefined
}

/**
 * Runs a write in one transaction: all it does, jobs included, or nothing. No transaction stands around what moves refs
 * or waits for another server.
 */
export async function write(op: NamedOperation, around: Write): Promise<unknown> {
  const { instance, ctx, enterAgain, matches, conditional, attempt } = around
  const handle = async (now: AnyContext): Promise<unknown> => {
    attempt?.begin()
    const result = await op.handle(now as never)
    return attempt === undefined ? result : attempt.keep(now.db, result)
  }
  const onConditions = <Result>(work: (ctx: AnyContext) => Promise<Result>): Promise<Result> =>
    onSnapshot(instance.db, async (db) => {
      const now = await enterAgain(db)
      await matches(db)
      return work(now)
    })
  if (op.moves !== undefined) {
    await attempt?.lease()
    const db = attempt?.marking(instance.db) ?? instance.db
    const entered = performance.now()
    // Called again where nobody else can move them. A write that waited long for its turn is judged again, with the
    // caller as they are then.
    const judgeAgain = async (): Promise<void> => {
      if (performance.now() - entered > JUDGED_AGAIN_MS) await enterAgain(instance.db)
    }
    const stillMatches = async (): Promise<void> => {
      await judgeAgain()
      await matches(instance.db)
    }
    const transact: Transact = async (now, work) => {
      if (conditional)
        return onSnapshot(db, async (tx) => {
          const again = await enterAgain(tx)
          // The compared value may come from git, which a transaction does not wait for.
          if (!isSameRecord(op, ctx, again)) throw preconditionFailed()
          return work(again as never)
        })
      await judgeAgain()
      return db.transaction((tx) => work({ ...now, db: tx }))
    }
    await stillMatches()
    return handle(Object.assign(ctx, { stillMatches, transact, db }))
  }
  // A body may have taken long: who sent it is judged again, as they are now.
  if (!conditional && op.receives !== undefined)
    return instance.db.transaction(async (db) => handle(await enterAgain(db)))
  if (!conditional) return instance.db.transaction((db) => handle(Object.assign(ctx, { db })))
  return onConditions(handle)
}
