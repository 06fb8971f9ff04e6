import type { Alert } from '../db/schema/alerts.ts'
import { queryOf } from './prometheus.ts'
import { DEFAULT_TITLE, isPayload, textOf, truncate } from './values.ts'

/** Characters of an issue's description. */
const DESCRIPTION_LENGTH = 1_000_000
const HORIZONTAL_LINE = '\n\n---\n\n'
const LINE_BREAK = '  \n'

/** The title of an alert's incident: one line. */
export const incidentTitle = (alert: Pick<Alert, 'title'>, issueIid: number): string =>
  alert.title === DEFAULT_TITLE ? `New: Incident ${issueIid}` : alert.title.trim().replaceAll(/\s+/g, ' ')

interface Around {
  /** The address of the alert for people. */
  readonly url: string
  readonly template: string | null
}

/** The description of an alert's incident: what the alert says, the sender's Markdown, the project's template. */
export function incidentDescription(alert: Alert, { url, template }: Around): string {
  const lines: [string, string | undefined | null][] = [
    ['Start time', startTime(alert.started_at)],
    ['Severity', alert.severity],
    ['full_query', inBackticks(fullQuery(alert))],
    ['Service', alert.service],
    ['Monitoring tool', alert.monitoring_tool],
    ['Hosts', alert.hosts.join(' ')],
    ['Description', alert.description],
    ['Alert', url],
  ]
  const summary = lines
    .flatMap(([name, value]) => (value ? [`**${name}:** ${value}`.trim()] : []))
    .join(LINE_BREAK)
  const parts = [summary, sentMarkdown(alert), template?.replaceAll('\0', '')]
  return truncate(parts.filter(Boolean).join(HORIZONTAL_LINE), DESCRIPTION_LENGTH)
}

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
)

/** As in `03 May 2026, 9:05AM (UTC)`. */
function startTime(at: Date): string {
  const two = (value: number): string => String(value).padStart(2, '0')
  const [hours, day] = [at.getUTCHours(), `${two(at.getUTCDate())} ${MONTHS[at.getUTCMonth()]}`]
  const time = `${hours % 12 || 12}:${two(at.getUTCMinutes())}${hours < 12 ? 'AM' : 'PM'}`
  return `${day} ${at.getUTCFullYear()}, ${time} (UTC)`
}

const isFromMetrics = ({ monitoring_tool }: Alert): boolean => monitoring_tool === 'Prometheus'

const fullQuery = (alert: Alert): string | undefined =>
  isFromMetrics(alert) && isPayload(alert.payload) ? queryOf(alert.payload) : undefined

/** As code, behind more backticks than the text has side by side. */
function inBackticks(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const longest = Math.max(0, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return longest === 0 ? `${fence}${text}${fence}` : `${fence} ${text} ${fence}`
}

function sentMarkdown({ payload, ...alert }: Alert): string | undefined {
  const annotations = isFromMetrics({ payload, ...alert }) && isPayload(payload) && payload['annotations']
  if (!isPayload(annotations)) return undefined
  return textOf(annotations['svc_incident_markdown'] ?? annotations['gitlab_incident_markdown'])
}
