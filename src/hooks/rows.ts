import { sql, type Generated, type Selectable } from 'kysely'
import type { Db } from '../db/db.ts'
import type { Id, Time, Times } from '../db/schema/columns.ts'
import { statement, type Slots } from '../db/statement.ts'
import type { Instance } from '../instance.ts'

export const STRATEGIES = ['wildcard', 'regex', 'all_branches'] as const
export type BranchFilterStrategy = (typeof STRATEGIES)[number]

interface WebHookTable extends Times {
  id: Id
  project_id: number | null
  group_id: number | null
  url: string
  name: string | null
  description: string | null
  subscriptions: string[]
  enable_ssl_verification: boolean
  push_events_branch_filter: string | null
  branch_filter_strategy: BranchFilterStrategy
  custom_webhook_template: string | null
  secrets: Buffer
  has_token: boolean
  has_signing_token: boolean
  url_variables: string[]
  custom_headers: string[]
  failures: Generated<number>
  disabled_until: Date | null
  retry_at: Date | null
  leased_until: Date | null
  lease: string | null
}
interface DeliveryTable {
  id: Id
  hook_id: number
  event_id: number | null
  asked_by: number | null
  trigger: string
  pending: boolean
  attempts: Generated<number>
  idempotency_key: Generated<string>
  event_uuid: Generated<string>
  url: string | null
  body: string | null
  request_headers: Record<string, string> | null
  response_headers: Record<string, string> | null
  response_body: string | null
  response_status: string | null
  execution_duration: number | null
  created_at: Time
  ended_at: Date | null
}
declare module '../db/schema/tables.ts' {
  interface Database {
    web_hooks: WebHookTable
    web_hook_deliveries: DeliveryTable
  }
}
export type WebHook = Selectable<WebHookTable>
export type Delivery = Selectable<DeliveryTable>

/** Values of a webhook that are never shown. */
export interface Secrets {
  readonly token?: string | undefined
  readonly signing_token?: string | undefined
  readonly url_variables: Readonly<Record<string, string>>
  readonly custom_headers: Readonly<Record<string, string>>
}
export const NO_SECRETS: Secrets = { url_variables: {}, custom_headers: {} }

export const sealSecrets = ({ vault }: Pick<Instance, 'vault'>, secrets: Secrets): Buffer =>
  vault.seal(JSON.stringify(secrets))
export const openSecrets = (
  { vault }: Pick<Instance, 'vault'>,
  { secrets }: Pick<WebHook, 'secrets'>,
): Secrets => JSON.parse(vault.open(secrets)) as Secrets

/** Failed deliveries in a row: past the first a webhook rests, at the second it is disabled. */
const RESTS_AFTER = 3
export const DISABLED_AT = 40

/** The published state of a webhook. System webhooks are never disabled. */
export function alertStatus({ failures, disabled_until, project_id, group_id }: WebHook): string {
  if (project_id === null && group_id === null) return 'executable'
  if (failures >= DISABLED_AT) return 'disabled'
  return disabled_until !== null && disabled_until > new Date() ? 'temporarily_disabled' : 'executable'
}

const isSystem = sql`project_id is null and group_id is null`
const fail = statement(
  (p: Slots<{ id: number; retry_seconds: number }>) => sql`
    update web_hooks set failures = least(failures + 1, ${sql.lit(DISABLED_AT)}),
           retry_at = now() + make_interval(secs => ${p.retry_seconds}),
           disabled_until = case when failures + 1 > ${sql.lit(RESTS_AFTER)} and not (${isSystem})
             then now() + least(interval '1 minute' * 2 ^ least(failures - ${sql.lit(RESTS_AFTER)}, 20), interval '1 day')
           end
     where id = ${p.id}`,
)
const succeed = statement(
  (p: Slots<{ id: number }>) => sql`
    update web_hooks set failures = 0, disabled_until = null, retry_at = null
     where id = ${p.id} and (failures > 0 or disabled_until is not null or retry_at is not null)`,
)
const dropPending = statement(
  (p: Slots<{ id: number }>) => sql`
    delete from web_hook_deliveries d using web_hooks h
     where d.hook_id = ${p.id} and d.pending and h.id = d.hook_id
       and h.failures >= ${sql.lit(DISABLED_AT)} and not (h.project_id is null and h.group_id is null)`,
)

/** Counts what became of a delivery. A webhook that gets disabled loses what waits for it. */
export async function countOutcome(
  db: Db,
  id: number,
  { ok, retrySeconds = 0 }: { readonly ok: boolean; readonly retrySeconds?: number },
): Promise<void> {
  if (ok) return void (await db.run(succeed, { id }))
  await db.run(fail, { id, retry_seconds: retrySeconds })
  await db.run(dropPending, { id })
}
