import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freezeCalendar } from './freeze_calendar.ts'
import { comingFreezes, currentFreeze, type Freeze } from './freeze_periods.ts'

const freeze = (freeze_start: string, freeze_end: string, cron_timezone = 'UTC'): Freeze => ({
  freeze_start,
  freeze_end,
  cron_timezone,
})
const weekend = freeze('0 23 * * 5', '0 7 * * 1')
const berlin = freeze('30 2 * * 0', '30 3 * * 0', 'Europe/Berlin')
const leap = freeze('0 0 29 2 *', '0 0 1 3 *')
const hourly = freeze('0 * * * *', '0 0 * * *')
const endless = freeze('0 0 1 1 *', '0 0 30 2 *')
const never = freeze('0 0 30 2 *', '0 0 * * *')
const same = freeze('0 0 * * *', '0 0 * * *')

// Worked out by hand: whether the moment is frozen, and until when.
const TABLE = [
  [weekend, '2026-01-02T22:59:59Z', false],
  [weekend, '2026-01-02T23:00:00Z', '2026-01-05T07:00Z'],
  [weekend, '2026-01-05T06:59:59Z', '2026-01-05T07:00Z'],
  [weekend, '2026-01-05T07:00:00Z', false],
  [berlin, '2026-03-22T01:29:59Z', false],
  [berlin, '2026-03-22T01:30:00Z', '2026-03-22T02:30Z'],
  // 02:30 is skipped on this day: the freeze begins at 03:00 and is half an hour shorter.
  [berlin, '2026-03-29T00:59:59Z', false],
  [berlin, '2026-03-29T01:00:00Z', '2026-03-29T01:30Z'],
  [berlin, '2026-03-29T01:30:00Z', false],
  // 02:30 comes twice: the freeze begins with the first and lasts two hours.
  [berlin, '2026-10-25T00:30:00Z', '2026-10-25T02:30Z'],
  [berlin, '2026-10-25T01:30:00Z', '2026-10-25T02:30Z'],
  [berlin, '2026-10-25T02:30:00Z', false],
  [leap, '2027-02-28T23:59:59Z', false],
  [leap, '2027-03-01T00:00:00Z', false],
  [leap, '2028-02-29T12:00:00Z', '2028-03-01T00:00Z'],
  [hourly, '2026-01-01T00:00:00Z', '2026-01-02T00:00Z'],
  [same, '2026-01-01T12:00:00Z', '2026-01-02T00:00Z'],
  [never, '2026-01-01T12:00:00Z', false],
  [endless, '2026-01-01T12:00:00Z', 'for ever'],
] as const

test('a freeze lasts from its start up to the first end after it', () => {
  for (const [period, now, expected] of TABLE) {
    const found = currentFreeze(period, new Date(now))
    const text = `${period.freeze_start} to ${period.freeze_end} at ${now}`
    if (expected === false) assert.equal(found, undefined, text)
    else if (expected === 'for ever') assert.ok(found !== undefined && found.end === undefined, text)
    else assert.deepEqual(found?.end, new Date(expected), text)
  }
})

test('coming freezes do not overlap, and one that never ends is the last', () => {
  const from = new Date('2026-01-03T00:00Z')
  const spans = (period: Freeze, count: number): string[] =>
    comingFreezes(period, from, count).map(
      ({ start, end }) => `${start.toISOString().slice(0, 16)} ${end?.toISOString().slice(0, 16) ?? '-'}`,
    )
  assert.deepEqual(spans(weekend, 2), [
    '2026-01-09T23:00 2026-01-12T07:00',
    '2026-01-16T23:00 2026-01-19T07:00',
  ])
  assert.deepEqual(spans(hourly, 2), [
    '2026-01-04T00:00 2026-01-05T00:00',
    '2026-01-05T00:00 2026-01-06T00:00',
  ])
  assert.deepEqual(spans(endless, 5), [])
  assert.deepEqual(spans(freeze('0 0 1 2 *', '0 0 30 2 *'), 5), [])
  assert.deepEqual(spans(never, 5), [])
  assert.equal(spans(leap, 3).length, 3)
})

test('the calendar is iCalendar: CRLF, UTC, escaped and folded lines', () => {
  const path = `group,${'ö'.repeat(60)}/project`
  const entry = { period: 7, start: new Date('2026-01-02T23:00Z'), end: new Date('2026-01-05T07:00Z') }
  const text = freezeCalendar({ project: path, host: 'guild.example', at: new Date('2026-01-01T00:00Z') }, [
    entry,
    { ...entry, end: undefined },
  ])
  const lines = text.split('\r\n')
  assert.ok(lines.every((line) => Buffer.byteLength(line) <= 75))
  const unfolded = text.replaceAll('\r\n ', '').split('\r\n')
  assert.deepEqual(unfolded.slice(4, 12), [
    'BEGIN:VEVENT',
    'UID:freeze-7-20260102T230000Z@guild.example',
    'DTSTAMP:20260101T000000Z',
    'DTSTART:20260102T230000Z',
    'DTEND:20260105T070000Z',
    `SUMMARY:Deploy freeze: ${path.replace(',', '\\,')}`,
    'TRANSP:TRANSPARENT',
    'END:VEVENT',
  ])
  assert.equal(unfolded.filter((line) => line.startsWith('DTEND')).length, 1)
})
