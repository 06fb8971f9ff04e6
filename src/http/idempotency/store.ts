import { sql } from 'kysely'
import { statement, type Slots, type Sql } from '../../db/statement.ts'

/** A caller and their name for one request. */
export interface KeyId {
  readonly caller: string
  readonly key: string
}
export interface KeyRow {
  readonly fingerprint: Buffer
  /** Sealed; null while the first request is under way, or after the process that ran it died. */
  readonly answer: Buffer | null
  readonly took_effect: boolean
  /** Whether a living process runs the first request. */
  readonly held: boolean
}

const EXPIRED: Sql = sql`now() - interval '24 hours'`
/** A process that renews no lease for so long is dead, and so are the git processes that it started. */
const LEASE: Sql = sql`now() + interval '15 seconds'`
/** Milliseconds between two renewals. */
export const RENEWAL_MS = 4_000

const isRow = (p: Slots<KeyId>): Sql => sql`caller = ${p.caller} and key = ${p.key}`

export const findKey = statement(
  (p: Slots<KeyId>) => sql<KeyRow>`
    select fingerprint, answer, took_effect, coalesce(held_until > now(), false) as held
      from idempotency_keys where ${isRow(p)} and created_at > ${EXPIRED}`,
)

/** Keeps the answer of a write with its effect: in one transaction. Touches no row where another request was first. */
export const keepAnswer = statement(
  (p: Slots<KeyId & { fingerprint: Buffer; answer: Buffer }>) => sql`
    insert into idempotency_keys as known (caller, key, fingerprint, answer)
    values (${p.caller}, ${p.key}, ${p.fingerprint}, ${p.answer})
    on conflict (caller, key) do update
       set fingerprint = excluded.fingerprint, answer = excluded.answer, created_at = now(), held_until = null,
           took_effect = false
     where known.created_at <= ${EXPIRED}`,
)

/**
 * Takes the lease of a key before a write that no transaction surrounds, also from a dead process. Returns no row where
 * another request is under way or was first.
 */
export const leaseKey = statement(
  (p: Slots<KeyId & { fingerprint: Buffer }>) => sql<{ taken_over: boolean }>`
    insert into idempotency_keys as known (caller, key, fingerprint, held_until)
    values (${p.caller}, ${p.key}, ${p.fingerprint}, ${LEASE})
    on conflict (caller, key) do update
       set fingerprint = excluded.fingerprint, held_until = excluded.held_until, answer = null, took_effect = false,
           created_at = case when known.created_at <= ${EXPIRED} then now() else known.created_at end
     where known.created_at <= ${EXPIRED}
        or (known.answer is null and not known.took_effect and known.held_until <= now()
            and known.fingerprint = excluded.fingerprint)
    returning created_at < now() as taken_over`,
)

export const renewLease = statement(
  (p: Slots<KeyId>) => sql`
    update idempotency_keys set held_until = ${LEASE} where ${isRow(p)} and answer is null`,
)
export const endLease = statement(
  (p: Slots<KeyId>) =>
    sql`update idempotency_keys set held_until = now() where ${isRow(p)} and answer is null`,
)
/** Notes in the transaction of an effect that it happened. */
export const markEffect = statement(
  (p: Slots<KeyId>) => sql`update idempotency_keys set took_effect = true where ${isRow(p)}`,
)
/** Keeps the answer of a write whose key is leased. */
export const finishKey = statement(
  (p: Slots<KeyId & { answer: Buffer }>) => sql`
    update idempotency_keys set answer = ${p.answer}, held_until = null where ${isRow(p)}`,
)
export const forgetKey = statement(
  (p: Slots<KeyId>) => sql`delete from idempotency_keys where ${isRow(p)} and answer is null`,
)
export const removeExpired = statement(() => sql`delete from idempotency_keys where created_at <= ${EXPIRED}`)
