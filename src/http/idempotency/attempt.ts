import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../db/db.ts'
import type { Instance } from '../../instance.ts'
import { KeptAnswer } from '../answers/kept_answer.ts'
import type { NamedOperation } from '../operation.ts'
import { Problem } from '../problems.ts'
import { answerTooLarge, interrupted, otherRequest, underWay } from './refusals.ts'
import * as store from './store.ts'

/** Code units of an answer up to which its body is kept. */
const MAX_TEXT = 1024 * 1024
/** Milliseconds that a duplicate waits for the first request, and between two looks. */
const PATIENCE_MS = 2_000
const LOOK_MS = 100
/** Refusals that the same request may not get again: they are not kept. */
const PASSING = new Set([408, 412, 429])

type Sealed = { readonly status: number; readonly headers: Readonly<Record<string, string>> } & (
  { readonly text: string | null } | { readonly body: Problem['body'] } | { readonly tooLarge: true }
)

/** Another request with the same key was first. */
class Superseded extends Error {}

/** The requests with a key that this process runs. */
const running = new WeakMap<Instance, Map<string, Promise<unknown>>>()

interface Options {
  readonly instance: Instance
  readonly op: NamedOperation
  readonly id: store.KeyId
  readonly fingerprint: Buffer
  /** Turns what the handler returned into its answer; undefined for a download, which is not kept. */
  readonly render: (result: unknown) => KeptAnswer | undefined
}

/** One request with an `Idempotency-Key`. */
export class Attempt {
  readonly #options: Options
  /** Set once the handler runs: refusals before are not kept. */
  #began = false
  #leased: { readonly takenOver: boolean; readonly renewal: NodeJS.Timeout } | undefined

  constructor(options: Options) {
    this.#options = options
  }

  /** The answer to the first request with the key: kept, or that of `work` now. A duplicate waits for a while. */
  async once(work: () => Promise<unknown>): Promise<unknown> {
    const { instance, id } = this.#options
    const mine = running.get(instance) ?? new Map<string, Promise<unknown>>()
    running.set(instance, mine)
    const name = JSON.stringify(id)
    for (const deadline = performance.now() + PATIENCE_MS; performance.now() < deadline;) {
      const other = mine.get(name)
      if (other !== undefined) {
        await Promise.race([other.catch(() => {}), sleep(deadline - performance.now())])
        continue
      }
      const run = this.#run(work)
      mine.set(name, run)
      try {
        return await run
      } catch (error) {
        if (!(error instanceof Superseded)) throw error
      } finally {
        mine.delete(name)
      }
      await sleep(LOOK_MS)
    }
    throw underWay()
  }

  async #run(work: () => Promise<unknown>): Promise<unknown> {
    const known = await this.#known()
    if (known !== undefined) return known
    try {
      return await work()
    } catch (error) {
      if (error instanceof Superseded) throw error
      return await this.#failed(error)
    } finally {
      clearInterval(this.#leased?.renewal)
    }
  }

  /** The kept answer. Throws a kept refusal, and Superseded while another process runs the first request. */
  async #known(): Promise<KeptAnswer | undefined> {
    const { instance, id, fingerprint } = this.#options
    const row = await instance.db.one(store.findKey, id)
    if (row === undefined) return undefined
    if (!row.fingerprint.equals(fingerprint)) throw otherRequest()
    if (row.answer !== null) return replay(JSON.parse(instance.vault.open(row.answer)) as Sealed)
    if (row.held) throw new Superseded()
    if (row.took_effect) throw interrupted()
    return undefined
  }

  /** The answer to a failed attempt: another request may have come first and made this one fail. */
  async #failed(error: unknown): Promise<KeptAnswer> {
    const { instance, id, fingerprint } = this.#options
    const isRefusal =
      error instanceof Problem && error.status >= 400 && error.status < 500 && !PASSING.has(error.status)
    if (this.#leased === undefined) {
      const known = await this.#known()
      if (known !== undefined) return known
      if (!isRefusal) throw error
      // Gates and effects of an attempt that died: what it did may be why they refuse now.
      if (!this.#began) throw (await instance.db.one(store.findKey, id)) ? interrupted() : error
      await instance.db.run(store.keepAnswer, { ...id, fingerprint, answer: this.#seal(error) })
      throw error
    }
    if (isRefusal && this.#leased.takenOver) {
      await instance.db.run(store.endLease, id)
      throw interrupted()
    }
    if (isRefusal) await instance.db.run(store.finishKey, { ...id, answer: this.#seal(error) })
    else await this.#endLease()
    throw error
  }

  /** Lets a retry run at once. Where the database is away, the lease runs out. */
  async #endLease(): Promise<void> {
    try {
      await this.#options.instance.db.run(store.endLease, this.#options.id)
    } catch {
      // The error of the attempt itself is the one to be told.
    }
  }

  /** Stands before the handler of a write that no transaction surrounds. */
  async lease(): Promise<void> {
    const { instance, id, fingerprint } = this.#options
    const [row] = await instance.db.rows(store.leaseKey, { ...id, fingerprint })
    if (row === undefined) throw new Superseded()
    const renew = (): void => void instance.db.run(store.renewLease, id).catch(() => {})
    this.#leased = { takenOver: row.taken_over, renewal: setInterval(renew, store.RENEWAL_MS).unref() }
  }

  /** The database, whose transactions note that the write took effect. Of refs the handlers themselves see it. */
  marking(db: Db): Db {
    if (this.#options.op.moves === 'refs') return db
    return {
      ...db,
      transaction: (work, options) =>
        db.transaction(async (tx) => {
          const result = await work(tx)
          await tx.run(store.markEffect, this.#options.id)
          return result
        }, options),
    }
  }

  begin(): void {
    this.#began = true
  }

  /** Keeps what the handler returned, on `db`: the transaction of the effect where there is one. */
  async keep(db: Db, result: unknown): Promise<unknown> {
    const { id, fingerprint, render } = this.#options
    const kept = render(result)
    if (kept === undefined) {
      if (this.#leased !== undefined) await db.run(store.forgetKey, id)
      return result
    }
    const answer = this.#seal(kept)
    if (this.#leased !== undefined) await db.run(store.finishKey, { ...id, answer })
    else if ((await db.run(store.keepAnswer, { ...id, fingerprint, answer })) === 0) throw new Superseded()
    return kept
  }

  #seal(answer: KeptAnswer | Problem): Buffer {
    const { status, headers } = answer
    const rest =
      answer instanceof Problem
        ? { body: answer.body }
        : (answer.text?.length ?? 0) > MAX_TEXT
          ? { tooLarge: true as const }
          : { text: answer.text ?? null }
    return this.#options.instance.vault.seal(JSON.stringify({ status, headers, ...rest } satisfies Sealed))
  }
}

function replay(sealed: Sealed): KeptAnswer {
  if ('tooLarge' in sealed) throw answerTooLarge()
  const headers = { ...sealed.headers, 'idempotent-replayed': 'true' }
  if ('body' in sealed) throw new Problem(sealed.status, { ...sealed.body }, headers)
  return new KeptAnswer(sealed.status, headers, sealed.text ?? undefined)
}
