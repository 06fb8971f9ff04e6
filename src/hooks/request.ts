import { createHmac, randomUUID } from 'node:crypto'
import { INTERFACE_VERSION } from '../core/values/versions.ts'
import { OutboundFault, type OutboundResponse } from '../core/settings/outbound_requests.ts'
import type { Instance } from '../instance.ts'
import { openSecrets, type Secrets, type WebHook } from './rows.ts'
import { fillTemplate } from './template.ts'

/** Milliseconds that a receiver has to answer. */
const TIMEOUT = 10_000
const MAX_BODY_BYTES = 25 * 1024 * 1024
/** Kept of a response. */
const KEPT_BYTES = 8 * 1024
const KEPT_HEADERS = 50
const KEPT_HEADER_LENGTH = 1024
const REDACTED = '[REDACTED]'

/** Names of a delivery in its headers. */
export interface Envelope {
  readonly trigger: string
  readonly idempotency_key: string
  readonly event_uuid: string
}

export interface Attempt {
  readonly url: string
  /** As they are kept: without secrets. */
  readonly request_headers: Record<string, string>
  readonly response_headers: Record<string, string>
  readonly response_body: string
  /** A code, or `internal error`. */
  readonly response_status: string
  /** Seconds. */
  readonly execution_duration: number
  readonly ok: boolean
  /** Why there was no response. */
  readonly fault: OutboundFault | undefined
}

const EVENT_NAMES: Readonly<Record<string, string>> = {
  push_events: 'Push Hook',
  tag_push_events: 'Tag Push Hook',
  issues_events: 'Issue Hook',
  confidential_issues_events: 'Confidential Issue Hook',
  note_events: 'Note Hook',
  confidential_note_events: 'Confidential Note Hook',
  merge_requests_events: 'Merge Request Hook',
  pipeline_events: 'Pipeline Hook',
  job_events: 'Job Hook',
  deployment_events: 'Deployment Hook',
  milestone_events: 'Milestone Hook',
  emoji_events: 'Emoji Hook',
  member_events: 'Member Hook',
  subgroup_events: 'Subgroup Hook',
  project_events: 'Project Hook',
}

const isSystem = (hook: WebHook): boolean => hook.project_id === null && hook.group_id === null

/** The address with its placeholders filled in. Throws TypeError where that is no URL. */
export const effectiveUrl = (url: string, { url_variables }: Pick<Secrets, 'url_variables'>): URL =>
  new URL(url.replaceAll(/\{([\w.-]+)\}/g, (all, name: string) => url_variables[name] ?? all))

function signature(secret: string, envelope: Envelope, body: string, now: Date): Record<string, string> {
  const timestamp = String(Math.floor(now.getTime() / 1000))
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const digest = createHmac('sha256', key)
    .update(`${envelope.idempotency_key}.${timestamp}.${body}`)
    .digest('base64')
  return {
    'webhook-id': envelope.idempotency_key,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${digest}`,
  }
}

/** Headers of a request, and the same as they are kept: without secrets. */
function headersOf(
  { config }: Pick<Instance, 'config'>,
  hook: WebHook,
  secrets: Secrets,
  envelope: Envelope,
): { readonly sent: Record<string, string>; readonly kept: Record<string, string> } {
  const standard: Record<string, string> = {
    'Content-Type': 'application/json',
    'User-Agent': `GitLab/${INTERFACE_VERSION}`,
    'X-Gitlab-Event': isSystem(hook) ? 'System Hook' : (EVENT_NAMES[envelope.trigger] ?? 'System Hook'),
    'X-Gitlab-Instance': config.url,
    'X-Gitlab-Webhook-UUID': randomUUID(),
    'X-Gitlab-Event-UUID': envelope.event_uuid,
    'Idempotency-Key': envelope.idempotency_key,
  }
  const known = new Set([...Object.keys(standard), 'X-Gitlab-Token'].map((name) => name.toLowerCase()))
  const custom = Object.entries(secrets.custom_headers).filter(([name]) => !known.has(name.toLowerCase()))
  const { token } = secrets
  return {
    sent: {
      ...Object.fromEntries(custom),
      ...standard,
      ...(token !== undefined && { 'X-Gitlab-Token': token }),
    },
    kept: {
      ...standard,
      ...(token !== undefined && { 'X-Gitlab-Token': REDACTED }),
      ...Object.fromEntries(custom.map(([name]) => [name, REDACTED])),
    },
  }
}

/** A response as it is kept. */
const responseOf = ({
  status,
  headers,
  body,
}: OutboundResponse): Pick<Attempt, 'response_headers' | 'response_body' | 'response_status' | 'ok'> => ({
  response_headers: Object.fromEntries(
    Object.entries(headers)
      .slice(0, KEPT_HEADERS)
      .map(([name, value]) => [name, value.slice(0, KEPT_HEADER_LENGTH)]),
  ),
  response_body: body.toString('utf8').replaceAll('\0', ''),
  response_status: String(status),
  ok: status >= 200 && status < 400,
})

/** Credentials of the address as a header; they leave the address. */
function takeLogin(url: URL): Record<string, string> {
  const login = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  ;[url.username, url.password] = ['', '']
  return login === ':' ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` }
}

/** Sends `payload` once. Never throws for what the receiver does. */
export async function attemptDelivery(
  instance: Pick<Instance, 'config' | 'vault' | 'outbound'>,
  hook: WebHook,
  envelope: Envelope,
  payload: string,
): Promise<Attempt> {
  const secrets = openSecrets(instance, hook)
  const { sent, kept } = headersOf(instance, hook, secrets, envelope)
  const start = performance.now()
  const seconds = (): number => Math.round(performance.now() - start) / 1000
  const attempt = { url: hook.url, request_headers: kept, fault: undefined }
  try {
    const body = bodyOf(hook, payload)
    const url = effectiveUrl(hook.url, secrets)
    const login = takeLogin(url)
    const signing = secrets.signing_token
    const signed = signing === undefined ? {} : signature(signing, envelope, body, new Date())
    const response = await instance.outbound.send({
      method: 'POST',
      url,
      headers: { ...sent, ...login, ...signed },
      body,
      timeout_ms: TIMEOUT,
      kept_bytes: KEPT_BYTES,
      insecure: !hook.enable_ssl_verification,
    })
    return { ...attempt, ...responseOf(response), execution_duration: seconds() }
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error)
    const fault = error instanceof OutboundFault ? error : new OutboundFault('blocked', text, error)
    const none = { response_headers: {}, response_body: fault.message, response_status: 'internal error' }
    return { ...attempt, ...none, execution_duration: seconds(), ok: false, fault }
  }
}

function bodyOf({ custom_webhook_template: template }: WebHook, payload: string): string {
  const body = template === null ? payload : fillTemplate(template, JSON.parse(payload))
  if (Buffer.byteLength(body) > MAX_BODY_BYTES) throw new Error('The payload is too large')
  return body
}
