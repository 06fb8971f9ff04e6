import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { Instance } from '../instance.ts'
import { enqueue, enqueueAt, type Job } from '../jobs/job.ts'
import { branchMatches } from './branch_filter.ts'
import type { EventRow } from './payloads/common.ts'
import { renderPayload } from './payloads/payload.ts'
import { attemptDelivery, type Attempt } from './request.ts'
import { DISABLED_AT, countOutcome, type Delivery, type WebHook } from './rows.ts'

// One job a webhook sends what waits for it, in order. A webhook whose receiver fails rests, and keeps its deliveries.

/** Milliseconds that one run of the job goes on; then other webhooks get its slot. */
const TURN = 5_000
/** Sendings of one delivery, where the receiver does not answer or has a fault of its own. */
const MAX_ATTEMPTS = 10

export const deliveryKey = (hookId: number): string => `deliver_webhooks ${hookId}`

const isSystem = sql`(project_id is null and group_id is null)`
// A worker that dies frees the webhook when its lease ends: longer than one attempt takes.
const claim = statement(
  (p: Slots<{ id: number; lease: string }>) => sql<WebHook>`
    update web_hooks set lease = ${p.lease}::uuid, leased_until = now() + interval '25 seconds'
     where id = ${p.id} and (leased_until is null or leased_until < now())
       and coalesce(greatest(disabled_until, retry_at), now()) <= now()
       and (failures < ${sql.lit(DISABLED_AT)} or ${isSystem})
    returning *`,
)
const renew = statement(
  (p: Slots<{ id: number; lease: string }>) => sql`
    update web_hooks set leased_until = now() + interval '25 seconds' where id = ${p.id} and lease = ${p.lease}::uuid`,
)
interface Rest {
  readonly until: Date | null
  readonly waits: boolean
}
const rest = statement(
  (p: Slots<{ id: number }>) => sql<Rest>`
    select greatest(disabled_until, retry_at, leased_until) as until,
           exists (select from web_hook_deliveries d where d.hook_id = h.id and d.pending) as waits
      from web_hooks h where id = ${p.id} and (failures < ${sql.lit(DISABLED_AT)} or ${isSystem})`,
)
const release = statement(
  (p: Slots<{ id: number; lease: string }>) => sql`
    update web_hooks set lease = null, leased_until = null where id = ${p.id} and lease = ${p.lease}::uuid`,
)
const next = statement(
  (p: Slots<{ hook_id: number }>) => sql<Delivery & { event: EventRow }>`
    select d.*, to_jsonb(e) as event from web_hook_deliveries d join events e on e.id = d.event_id
     where d.hook_id = ${p.hook_id} and d.pending order by d.id limit 1`,
)
const postpone = statement(
  (p: Slots<{ id: number }>) =>
    sql`update web_hooks set retry_at = now() + interval '30 seconds' where id = ${p.id}`,
)
const drop = statement((p: Slots<{ id: number }>) => sql`delete from web_hook_deliveries where id = ${p.id}`)
const keepBody = statement(
  (p: Slots<{ id: number; body: string }>) => sql`
    update web_hook_deliveries set body = ${p.body} where id = ${p.id}`,
)
type Ended = Omit<Attempt, 'ok' | 'fault' | 'request_headers' | 'response_headers'> & {
  readonly id: number
  readonly pending: boolean
  readonly request_headers: string
  readonly response_headers: string
}
const end = statement(
  (p: Slots<Ended>) => sql`
    update web_hook_deliveries
       set pending = ${p.pending}, attempts = attempts + 1, ended_at = clock_timestamp(), url = ${p.url},
           request_headers = ${p.request_headers}::jsonb, response_headers = ${p.response_headers}::jsonb,
           response_body = ${p.response_body}, response_status = ${p.response_status},
           execution_duration = ${p.execution_duration}
     where id = ${p.id}`,
)

/** Keeps what an attempt sent and got, and counts it for the webhook. */
async function keepAttempt(
  db: Db,
  { id, attempts, hook_id }: Pick<Delivery, 'id' | 'attempts' | 'hook_id'>,
  { ok, fault: _fault, ...attempt }: Attempt,
  retries: boolean,
): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.run(end, {
      ...attempt,
      id,
      pending: !ok && retries,
      request_headers: JSON.stringify(attempt.request_headers),
      response_headers: JSON.stringify(attempt.response_headers),
    })
    await countOutcome(tx, hook_id, { ok, retrySeconds: retries ? 2 ** (attempts + 1) : 0 })
  })
}

/** Whether the same request may succeed later: the receiver did not answer, or has a fault of its own. */
function isTemporary({ fault, response_status }: Attempt): boolean {
  if (fault !== undefined) return fault.kind !== 'blocked'
  const status = Number(response_status)
  return status >= 500 || status === 408 || status === 429
}

/** Sends the first delivery that waits. False where none waits, or the receiver failed. */
async function deliverNext(instance: Instance, hook: WebHook): Promise<boolean> {
  const { db } = instance
  const delivery = await db.one(next, { hook_id: hook.id })
  if (delivery === undefined) return false
  const body = delivery.body ?? (await bodyOf(instance, hook, delivery.event))
  if (body === undefined) {
    await db.run(drop, { id: delivery.id })
    return true
  }
  if (delivery.body === null) await db.run(keepBody, { id: delivery.id, body })
  const attempt = await attemptDelivery(instance, hook, delivery, body)
  const isOpen = attempt.fault?.kind === 'open'
  const retries = !attempt.ok && isTemporary(attempt) && delivery.attempts + 1 < MAX_ATTEMPTS
  // The circuit of the receiver's server is open: nothing was sent.
  if (isOpen) {
    await db.run(postpone, { id: hook.id })
    return false
  }
  await keepAttempt(db, delivery, attempt, retries)
  return attempt.ok || !retries
}

/** The payload as it is sent now and again later; undefined where the webhook is not meant, or the record is gone. */
async function bodyOf(instance: Instance, hook: WebHook, event: EventRow): Promise<string | undefined> {
  if (event.kind === 'push' && !branchMatches(hook, String(event.data['ref']))) return undefined
  const isSystem = hook.project_id === null && hook.group_id === null
  const payload = await renderPayload(instance, event, isSystem)
  return payload === undefined ? undefined : JSON.stringify(payload)
}

export const deliverWebhooks: Job<{ hook_id: number }> = {
  name: 'deliver_webhooks',
  outbound: true,
  run: async (instance, { hook_id: id }) => {
    const { db } = instance
    const lease = randomUUID()
    const hook = await db.one(claim, { id, lease })
    if (hook !== undefined) {
      const until = performance.now() + TURN
      try {
        while ((await deliverNext(instance, hook)) && performance.now() < until)
          await db.run(renew, { id, lease })
      } finally {
        await db.run(release, { id, lease })
      }
    }
    const resting = await db.one(rest, { id })
    if (resting?.waits !== true) return
    const key = deliveryKey(id)
    // Another job may have come meanwhile for new deliveries; both are one.
    if (resting.until !== null && resting.until > new Date())
      await enqueueAt(db, deliverWebhooks, { hook_id: id }, { key, at: resting.until })
    else await enqueue(db, deliverWebhooks, { hook_id: id }, key)
  },
}
