import { Type as t, type Static, type TBoolean, type TObject, type TProperties } from 'typebox'
import { STRATEGIES, alertStatus, type Delivery, type WebHook } from '../../hooks/rows.ts'
import { moment, nullable, oneOf } from '../../http/params/schema.ts'

/** Flags of kinds of events that nothing writes: taken, and shown as off. */
const UNSERVED = [
  'wiki_page_events',
  'feature_flag_events',
  'releases_events',
  'resource_access_token_events',
  'vulnerability_events',
] as const

const COMMON = [
  ...(['push_events', 'tag_push_events', 'issues_events', 'confidential_issues_events'] as const),
  ...(['merge_requests_events', 'note_events', 'confidential_note_events', 'job_events'] as const),
  ...(['pipeline_events', 'deployment_events', 'milestone_events', 'emoji_events'] as const),
] as const

/** By kind of webhook: the flags that subscribe to events, and those that are on unless said. */
export const FLAGS = {
  project: { served: COMMON, unserved: UNSERVED, on: ['push_events'] },
  group: {
    served: [...COMMON, 'subgroup_events', 'member_events', 'project_events'],
    unserved: UNSERVED,
    on: ['push_events'],
  },
  system: {
    served: ['push_events', 'tag_push_events', 'merge_requests_events', 'repository_update_events'],
    unserved: [],
    on: ['repository_update_events'],
  },
} as const
export type HookKind = keyof typeof FLAGS

const flagsOf = (kind: HookKind): readonly string[] => [...FLAGS[kind].served, ...FLAGS[kind].unserved]
/** Flags of a kind, as parameters. */
export const flagParams = (kind: HookKind): TProperties =>
  Object.fromEntries(flagsOf(kind).map((name) => [name, t.Optional(nullable(t.Boolean()))]))

const Pair = t.Object({ key: t.String(), value: t.String() })
const Named = t.Array(t.Object({ key: t.String() }))

/** Parameters beside the flags and the address. */
export const hookParams = {
  name: t.Optional(nullable(t.String({ maxLength: 255 }))),
  description: t.Optional(nullable(t.String({ maxLength: 2048 }))),
  token: t.Optional(nullable(t.String({ maxLength: 2048, description: 'Sent as `X-Gitlab-Token`' }))),
  signing_token: t.Optional(
    nullable(t.String({ description: 'Signs payloads: `whsec_` and 32 bytes in Base64' })),
  ),
  enable_ssl_verification: t.Optional(t.Boolean()),
  push_events_branch_filter: t.Optional(nullable(t.String({ maxLength: 5000 }))),
  branch_filter_strategy: t.Optional(oneOf(STRATEGIES)),
  url_variables: t.Optional(t.Array(Pair, { description: 'Values of `{name}` in the address' })),
  custom_headers: t.Optional(t.Array(Pair)),
  custom_webhook_template: t.Optional(nullable(t.String({ maxLength: 4096 }))),
}
export type HookParams = Static<TObject<typeof hookParams>>

const shared = {
  id: t.Integer(),
  url: t.String(),
  name: nullable(t.String()),
  description: nullable(t.String()),
  created_at: moment(),
  push_events: t.Boolean(),
  tag_push_events: t.Boolean(),
  merge_requests_events: t.Boolean(),
  repository_update_events: t.Boolean(),
  enable_ssl_verification: t.Boolean(),
  alert_status: t.String({ description: '`executable`, `temporarily_disabled` or `disabled`' }),
  disabled_until: nullable(moment()),
  url_variables: Named,
  custom_headers: Named,
  push_events_branch_filter: nullable(t.String()),
  branch_filter_strategy: t.String(),
  custom_webhook_template: nullable(t.String()),
  token_present: t.Boolean(),
  signing_token_present: t.Boolean(),
}
const booleans = (names: readonly string[]): Record<string, TBoolean> =>
  Object.fromEntries(names.map((name) => [name, t.Boolean()]))

export const ProjectHook = t.Object({
  ...shared,
  ...booleans(flagsOf('project')),
  project_id: t.Integer(),
})
export const GroupHook = t.Object({ ...shared, ...booleans(flagsOf('group')), group_id: t.Integer() })
export const SystemHook = t.Object(shared)

const keys = (names: readonly string[]): { key: string }[] => names.map((key) => ({ key }))

/** The record of a webhook of any kind; the schema of its kind drops what is not shown. */
export const presentHook = (
  row: WebHook,
): Static<typeof ProjectHook> & Static<typeof GroupHook> & Static<typeof SystemHook> => {
  const flags = new Set([...flagsOf('group'), ...flagsOf('system')])
  return Object.assign(
    Object.fromEntries([...flags].map((name) => [name, row.subscriptions.includes(name)])) as Record<
      'push_events' | 'tag_push_events' | 'merge_requests_events' | 'repository_update_events',
      boolean
    >,
    {
      id: row.id,
      project_id: row.project_id ?? 0,
      group_id: row.group_id ?? 0,
      url: row.url,
      name: row.name,
      description: row.description,
      created_at: row.created_at,
      enable_ssl_verification: row.enable_ssl_verification,
      alert_status: alertStatus(row),
      disabled_until: row.disabled_until,
      url_variables: keys(row.url_variables),
      custom_headers: keys(row.custom_headers),
      push_events_branch_filter: row.push_events_branch_filter,
      branch_filter_strategy: row.branch_filter_strategy,
      custom_webhook_template: row.custom_webhook_template,
      token_present: row.has_token,
      signing_token_present: row.has_signing_token,
    },
  )
}

const texts = t.Record(t.String(), t.String())
export const HookEvent = t.Object({
  id: t.Integer(),
  url: t.String(),
  trigger: t.String({ description: 'Such as `push_hooks`' }),
  request_headers: texts,
  request_data: t.Unsafe<object>({ type: 'object', additionalProperties: true }),
  response_headers: texts,
  response_body: t.String(),
  execution_duration: t.Number({ description: 'Seconds' }),
  response_status: t.String({ description: 'A code, or `internal error`' }),
})

/** `issues_events` subscribes to what is called `issue_hooks`; all others keep their word. */
const triggerName = (flag: string): string =>
  flag
    .replace(/_events$/, '_hooks')
    .replace('issues_hooks', 'issue_hooks')
    .replace('merge_requests_hooks', 'merge_request_hooks')

export const presentDelivery = (row: Delivery): Static<typeof HookEvent> => ({
  id: row.id,
  url: row.url ?? '',
  trigger: row.trigger === 'system' ? 'system_hooks' : triggerName(row.trigger),
  request_headers: row.request_headers ?? {},
  request_data: JSON.parse(row.body ?? '{}') as object,
  response_headers: row.response_headers ?? {},
  response_body: row.response_body ?? '',
  execution_duration: row.execution_duration ?? 0,
  response_status: row.response_status ?? '',
})
