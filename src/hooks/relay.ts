import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { Instance } from '../instance.ts'
import { enqueueAll } from '../jobs/job.ts'
import { auditEvents } from './audit_rows.ts'
import { deliveryKey, deliverWebhooks } from './delivery_job.ts'
import { DISABLED_AT } from './rows.ts'

// The relay numbers committed events, one transaction at a time in all processes, and gives each to the webhooks that
// subscribe to it. Ids of rows become visible out of order; numbers do not, because each batch commits before the next.

/** Events of one transaction. */
const BATCH = 500
/** Milliseconds between two looks for new events. */
const ROUND = 250

const waiting = statement(
  () => sql<{ found: boolean }>`select exists (select from events where seq is null) as found`,
)
const lock = statement(() => sql<{ held: boolean }>`select pg_try_advisory_xact_lock(7163022) as held`)
// A transaction writes a record's event while it holds the record, so ids of one record are in the order of commits.
const number = statement(
  () => sql<{ id: number }>`
    with fresh as materialized (
      select id, nextval('events_order') as seq
        from (select id from events where seq is null order by id limit ${sql.lit(BATCH)}) e)
    update events e set seq = fresh.seq from fresh where e.id = fresh.id
    returning e.id`,
)
/** The webhook was there when the event happened, and is not disabled. */
const alive = sql`(h.created_at <= t.created_at and (h.failures < ${sql.lit(DISABLED_AT)} or h.project_id is null and h.group_id is null))`
const line = sql`coalesce(
  (select array_agg(l.id::bigint) from jsonb_array_elements_text(e.data->'line') l (id)), n.traversal_ids)`
const give = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<{ hook_id: number }>`
    with told as materialized (
      select e.id, e.seq, e.created_at, e.kind, e.trigger, e.project_id, ${line} as line
        from events e left join projects p on p.id = e.project_id
        left join namespaces n on n.id = coalesce(p.namespace_id, e.group_id)
       where e.id = any(${p.ids}::bigint[])
    ), matched as (
      select t.id, t.seq, t.trigger, h.id as hook_id from told t join web_hooks h on h.project_id = t.project_id
       where t.trigger = any(h.subscriptions) and ${alive}
      union all
      select t.id, t.seq, t.trigger, h.id from told t join web_hooks h on h.group_id = any(t.line)
       where t.trigger = any(h.subscriptions) and ${alive}
      union all
      select t.id, t.seq, coalesce(t.trigger, 'system'), h.id
        from told t join web_hooks h on h.project_id is null and h.group_id is null
       where (t.kind in ('project', 'group', 'user', 'member') or t.trigger = any(h.subscriptions)) and ${alive}
    ), given as (
      insert into web_hook_deliveries (hook_id, event_id, trigger, pending)
      select hook_id, id, trigger, true from matched order by seq, hook_id
      returning hook_id)
    select distinct hook_id from given`,
)
/** Numbers one batch of events and gives it to webhooks; how many there were. 0 too where another process does so now. */
export async function relayBatch(db: Db): Promise<number> {
  if ((await db.one(waiting, {}))?.found !== true) return 0
  return db.transaction(async (tx) => {
    if ((await tx.one(lock, {}))?.held !== true) return 0
    const ids = (await tx.rows(number, {})).map(({ id }) => id)
    await auditEvents(tx, ids)
    const hooks = await tx.rows(give, { ids })
    await enqueueAll(
      tx,
      deliverWebhooks,
      hooks.map(({ hook_id }) => ({ payload: { hook_id }, key: deliveryKey(hook_id) })),
    )
    return ids.length
  })
}

/** Relays events until stopped by calling what it returns. Never throws. */
export function watchOutbox(
  { db }: Pick<Instance, 'db'>,
  say: (detail: object, text: string) => void,
): () => void {
  let current: Promise<void> | undefined
  let isStopped = false
  const round = async (): Promise<void> => {
    while (!isStopped && (await relayBatch(db)) === BATCH);
  }
  const clock = setInterval(() => {
    current ??= round()
      .catch((error: unknown) => say({ err: error }, 'events could not be relayed'))
      .finally(() => (current = undefined))
  }, ROUND)
  clock.unref()
  return () => {
    isStopped = true
    clearInterval(clock)
  }
}
