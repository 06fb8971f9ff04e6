import { createHash } from 'node:crypto'
import type { AlertSeverity } from '../db/schema/alerts.ts'
import {
  DESCRIPTION_LENGTH,
  isPayload,
  momentOf,
  shortTextOf,
  textOf,
  titleOf,
  type Incoming,
  type Payload,
} from './values.ts'

// The webhook format of Prometheus Alertmanager, version 4.

const REQUIRED =
  'alerts commonAnnotations commonLabels externalURL groupKey groupLabels receiver status version'.split(' ')
/** Items of one request that are processed; the rest is dropped, as published. */
const MAX_ITEMS = 100

export const hasRequiredKeys = (payload: Payload): boolean =>
  REQUIRED.every((key) => Object.hasOwn(payload, key))
/** Whether a payload is of this format, whatever the URL that it was sent to. */
export const isMetricsFormat = (payload: Payload): boolean =>
  payload['version'] === '4' && hasRequiredKeys(payload)

const SEVERITIES: ReadonlyMap<string, AlertSeverity> = new Map(
  (
    [
      ['critical', 'critical s1 p1 emergency fatal'],
      ['high', 'high s2 p2 major page'],
      ['medium', 'medium s3 p3 error alert'],
      ['low', 'low s4 p4 warn warning minor'],
      ['info', 'info s5 p5 debug information notice'],
      ['unknown', 'unknown'],
    ] as const
  ).flatMap(([severity, words]) => words.split(' ').map((word) => [word, severity] as const)),
)

/** Every item that has a title and a start; the others are skipped. */
export function readMetrics(payload: Payload, now: Date): Incoming[] {
  const { alerts } = payload
  const items: unknown[] = Array.isArray(alerts) ? alerts.slice(0, MAX_ITEMS) : []
  return items.flatMap((item) => (isPayload(item) ? (readItem(item, now) ?? []) : []))
}

/** The zero time of Go, in whatever form: Alertmanager's `endsAt` while an alert fires. */
const NO_END = Date.parse('0001-01-01T00:00:00Z')

function endOf(item: Payload): Date | undefined {
  const end = momentOf(item['endsAt'])
  return end?.getTime() === NO_END ? undefined : end
}

function readItem(item: Payload, now: Date): Incoming | undefined {
  const [annotations, labels] = [part(item, 'annotations'), part(item, 'labels')]
  const given = [annotations['title'], annotations['summary'], labels['alertname']].map(titleOf)
  const title = given.find((one) => one !== undefined)
  const startsAt = textOf(item['startsAt'])
  if (title === undefined || startsAt === undefined) return undefined
  const resolves = item['status'] === 'resolved'
  const end = endOf(item)
  const environment = labels['svc_environment_name'] ?? labels['gitlab_environment_name']
  return {
    title,
    description: shortTextOf(annotations['description'], DESCRIPTION_LENGTH),
    service: null,
    monitoring_tool: 'Prometheus',
    hosts: [],
    severity: SEVERITIES.get(textOf(labels['severity'])?.toLowerCase() ?? '') ?? 'critical',
    environment: textOf(environment) ?? null,
    fingerprint: createHash('sha1')
      .update([startsAt, title, queryOf(item) ?? ''].join('/'))
      .digest(),
    started_at: momentOf(startsAt) ?? now,
    ended_at: resolves ? (end ?? now) : (end ?? null),
    resolves,
    payload: JSON.stringify(item),
  }
}

const part = (item: Payload, name: string): Payload => {
  const value = item[name]
  return isPayload(value) ? value : {}
}

/** The query of the metric: `g0.expr` in the query of `generatorURL`. */
export function queryOf(item: Payload): string | undefined {
  const url = textOf(item['generatorURL'])
  if (url === undefined || !URL.canParse(url)) return undefined
  return textOf(new URL(url).searchParams.get('g0.expr'))
}
