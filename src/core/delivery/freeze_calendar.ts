/** One freeze of a period; without an end it lasts until the period is changed. */
export interface CalendarEntry {
  readonly period: number
  readonly start: Date
  readonly end: Date | undefined
}

interface Calendar {
  readonly project: string
  /** Makes the events' identifiers unique among servers. */
  readonly host: string
  readonly at: Date
}

const stamp = (time: Date): string => time.toISOString().replaceAll(/[-:]|\.\d+/g, '')
const escape = (text: string): string => text.replaceAll(/[\\;,]/g, '\\$&')

/** Lines of more than 75 octets go on in the next line behind a blank (RFC 5545, 3.1). */
function fold(line: string): string {
  const parts: string[] = []
  let part = ''
  for (const character of line) {
    const limit = parts.length === 0 ? 75 : 74
    if (Buffer.byteLength(part + character) > limit) {
      parts.push(part)
      part = ''
    }
    part += character
  }
  return [...parts, part].join('\r\n ')
}

/** The freezes as an iCalendar file (RFC 5545), times in UTC, lines ended by CRLF. */
export function freezeCalendar({ project, host, at }: Calendar, entries: readonly CalendarEntry[]): string {
  const events = entries.flatMap(({ period, start, end }) => [
    'BEGIN:VEVENT',
    `UID:freeze-${period}-${stamp(start)}@${host}`,
    `DTSTAMP:${stamp(at)}`,
    `DTSTART:${stamp(start)}`,
    ...(end === undefined ? [] : [`DTEND:${stamp(end)}`]),
    `SUMMARY:${escape(`Deploy freeze: ${project}`)}`,
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ])
  const lines = [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    'PRODID:-//Guildhall//Deploy freezes//EN',
    `X-WR-CALNAME:${escape(`Deploy freezes of ${project}`)}`,
    ...events,
    'END:VCALENDAR',
  ]
  return lines.map((line) => `${fold(line)}\r\n`).join('')
}
