import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { insertInto, updateIn } from '../../db/rows.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'
import type { Attempt } from '../../hooks/request.ts'
import type { Envelope } from '../../hooks/request.ts'
import type { Delivery, WebHook } from '../../hooks/rows.ts'
import type { HookKind } from './entity.ts'

/** Where webhooks belong. */
export interface Owner {
  readonly kind: HookKind
  /** 0 for the instance. */
  readonly id: number
}
type OfKind = Pick<Owner, 'kind'>
interface Page {
  readonly limit: number
  readonly offset: number
}

const owned = (kind: HookKind, id: RawBuilder<unknown>): RawBuilder<boolean> =>
  ({
    project: sql<boolean>`h.project_id = ${id}`,
    group: sql<boolean>`h.group_id = ${id}`,
    system: sql<boolean>`h.project_id is null and h.group_id is null and ${id} = 0::bigint`,
  })[kind]

const listStatement = pageStatements<OfKind, Page & { of: number }, WebHook>((p, { kind }) =>
  paged(
    sql<WebHook>`
      select h.* from web_hooks h where ${owned(kind, p.of)} order by h.id limit ${p.limit} offset ${p.offset}`,
    sql`select from web_hooks h where ${owned(kind, p.of)}`,
  ),
)
export const list = (db: Db, { kind, id }: Owner, { limit, offset }: Page): Promise<Listed<WebHook>> =>
  db.page(listStatement({ kind }), { of: id, limit, offset })

const findStatement = statements<OfKind, { of: number; id: number }, WebHook>(
  (p, { kind }) => sql`select h.* from web_hooks h where h.id = ${p.id} and ${owned(kind, p.of)}`,
)
export const find = (db: Db, { kind, id: of }: Owner, id: number): Promise<WebHook | undefined> =>
  db.one(findStatement({ kind }), { of, id })

const lockStatement = statement(
  (p: Slots<{ id: number }>) => sql<WebHook>`select h.* from web_hooks h where h.id = ${p.id} for update`,
)
export const lock = (db: Db, id: number): Promise<WebHook> => db.update(lockStatement, { id })

const columns = [
  ...(['url', 'name', 'description', 'subscriptions', 'enable_ssl_verification'] as const),
  ...(['push_events_branch_filter', 'branch_filter_strategy', 'custom_webhook_template'] as const),
  ...(['secrets', 'has_token', 'has_signing_token', 'url_variables', 'custom_headers'] as const),
] as const
export type HookValues = Pick<WebHook, (typeof columns)[number]>

const insertStatement = insertInto('web_hooks', ['project_id', 'group_id', ...columns])
export const insert = (db: Db, { kind, id }: Owner, values: HookValues): Promise<WebHook> =>
  db.insert(insertStatement, {
    project_id: kind === 'project' ? id : null,
    group_id: kind === 'group' ? id : null,
    ...values,
  })

const updateStatement = updateIn('web_hooks', ['id'], columns)
export const update = (db: Db, id: number, values: Partial<HookValues>): Promise<WebHook> =>
  db.update(updateStatement, { id, ...values })

const removeStatement = statement((p: Slots<{ id: number }>) => sql`delete from web_hooks where id = ${p.id}`)
export const remove = (db: Db, id: number): Promise<void> => db.remove(removeStatement, { id })

const CLASSES = {
  successful: sql`d.response_status ~ '^[23]'`,
  client_failure: sql`d.response_status ~ '^4'`,
  server_failure: sql`(d.response_status ~ '^5' or d.response_status = 'internal error')`,
} as const
type StatusClass = keyof typeof CLASSES

const isClass = (word: string): word is StatusClass => Object.hasOwn(CLASSES, word)
/** Whether a word of the status filter is one of its classes or a code. */
export const isStatus = (word: string): boolean => isClass(word) || /^\d{3}$/.test(word)

interface Wanted {
  readonly classes: readonly StatusClass[]
  readonly any: boolean
}
const deliveriesStatement = pageStatements<
  Wanted,
  Page & { hook_id: number; codes: readonly string[] },
  Delivery
>((p, { classes, any }) => {
  const wanted = sql.join(
    [sql`d.response_status = any(${p.codes}::text[])`, ...classes.map((name) => CLASSES[name])],
    sql` or `,
  )
  // Published: those of a week are kept.
  const matches = sql`
      from web_hook_deliveries d
     where d.hook_id = ${p.hook_id} and d.attempts > 0 and (${any ? sql`true` : wanted})`
  return paged(
    sql<Delivery>`select d.* ${matches} order by d.id desc limit ${p.limit} offset ${p.offset}`,
    sql`select ${matches}`,
  )
})
/** Deliveries that were tried, the newest first. */
export const listDeliveries = (
  db: Db,
  hookId: number,
  statuses: readonly string[],
  { limit, offset }: Page,
): Promise<Listed<Delivery>> => {
  const classes = statuses.filter(isClass)
  const codes = statuses.filter((word) => !isClass(word))
  return db.page(deliveriesStatement({ classes, any: statuses.length === 0 }), {
    hook_id: hookId,
    codes,
    limit,
    offset,
  })
}

const deliveryStatement = statement(
  (p: Slots<{ hook_id: number; id: number }>) => sql<Delivery>`
    select d.* from web_hook_deliveries d where d.hook_id = ${p.hook_id} and d.id = ${p.id} and d.attempts > 0`,
)
export const findDelivery = (db: Db, hookId: number, id: number): Promise<Delivery | undefined> =>
  db.one(deliveryStatement, { hook_id: hookId, id })

const MAX_PER_MINUTE = 5
const countAsked = statements<OfKind, { of: number; asked_by: number }, { count: number }>(
  (p, { kind }) => sql`
    select count(*)::int as count from web_hook_deliveries d join web_hooks h on h.id = d.hook_id
     where d.asked_by = ${p.asked_by} and d.created_at > now() - interval '1 minute' and ${owned(kind, p.of)}`,
)
/** Whether the user has asked for as many tests as a minute may have. */
export const hasAskedEnough = async (db: Db, { kind, id }: Owner, userId: number): Promise<boolean> =>
  ((await db.one(countAsked({ kind }), { of: id, asked_by: userId }))?.count ?? 0) >= MAX_PER_MINUTE

interface Asked extends Omit<Envelope, 'request_headers'> {
  readonly hook_id: number
  readonly asked_by: number
  readonly body: string
  readonly url: string
  readonly request_headers: string
  readonly response_headers: string
  readonly response_body: string
  readonly response_status: string
  readonly execution_duration: number
}
const keep = statement(
  (p: Slots<Asked>) => sql`
    insert into web_hook_deliveries (hook_id, asked_by, trigger, pending, attempts, idempotency_key, event_uuid, url, body,
      request_headers, response_headers, response_body, response_status, execution_duration, ended_at)
    values (${p.hook_id}, ${p.asked_by}, ${p.trigger}, false, 1, ${p.idempotency_key}::uuid, ${p.event_uuid}::uuid, ${p.url},
      ${p.body}, ${p.request_headers}::jsonb, ${p.response_headers}::jsonb, ${p.response_body}, ${p.response_status},
      ${p.execution_duration}, clock_timestamp())`,
)
/** Keeps a delivery that a user asked for. */
export const keepAsked = (
  db: Db,
  of: Pick<Asked, 'hook_id' | 'asked_by' | 'body'>,
  { trigger, idempotency_key, event_uuid }: Envelope,
  attempt: Attempt,
): Promise<number> => {
  const { url, response_body, response_status, execution_duration } = attempt
  return db.run(keep, {
    ...of,
    trigger,
    idempotency_key,
    event_uuid,
    url,
    response_body,
    response_status,
    execution_duration,
    request_headers: JSON.stringify(attempt.request_headers),
    response_headers: JSON.stringify(attempt.response_headers),
  })
}
