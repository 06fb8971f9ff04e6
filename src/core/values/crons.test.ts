import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCron, lastTime, nextTime, zoneOf } from './crons.ts'

test('cron expressions have five fields of numbers, names, lists, ranges and steps', () => {
  const good = [
    '0 23 * * 5',
    '5 4 * * sun',
    '*/15 0-6,22 1,15 jan-mar MON-FRI',
    '0 0 L * *',
    '0 0 * * 5#2',
    '0 0 * * 7',
  ]
  const bad = [
    '0 0 0 * *',
    '',
    '* * * *',
    '* * * * * *',
    '60 * * * *',
    '0 24 * * *',
    '0 0 32 * *',
    '0 0 * 13 *',
  ]
  const odd = [
    '@daily',
    'every day',
    '0 0 ? * *',
    'H H * * *',
    '0 0 15W * *',
    '0 0 5-1 * *',
    `0 0 ${'1,'.repeat(200)}1 * *`,
  ]
  for (const cron of good) assert.equal(isCron(cron), true, cron)
  for (const cron of [...bad, ...odd]) assert.equal(isCron(cron), false, cron)
})

test('a time zone is an IANA name, a city or one of the usual names', () => {
  const names = {
    UTC: 'UTC',
    'Europe/Berlin': 'Europe/Berlin',
    Berlin: 'Europe/Berlin',
    'Hong Kong': 'Asia/Hong_Kong',
    'Eastern Time (US & Canada)': 'America/New_York',
  }
  for (const [name, zone] of Object.entries(names)) assert.equal(zoneOf(name), zone)
  for (const name of ['', 'Nope', 'Europe/Nope', '+05:30', '../etc', 'constructor'])
    assert.equal(zoneOf(name), undefined, name)
})

// Worked out by hand. Berlin: 2026-03-29 02:00 becomes 03:00, 2026-10-25 03:00 becomes 02:00.
// New York: 2026-03-08 02:00 becomes 03:00, 2026-11-01 02:00 becomes 01:00. Lord Howe moves by half an hour.
const NEXT = [
  ['30 2 * * *', 'Europe/Berlin', '2026-03-28T00:00Z', '2026-03-28T01:30Z', 'the day before the gap'],
  ['30 2 * * *', 'Europe/Berlin', '2026-03-29T00:00Z', '2026-03-29T01:00Z', 'in the gap: when it ends'],
  ['30 2 * * *', 'Europe/Berlin', '2026-03-29T01:00Z', '2026-03-30T00:30Z', 'once only'],
  ['0 3 * * *', 'Europe/Berlin', '2026-03-29T00:00Z', '2026-03-29T01:00Z', 'the end of the gap itself'],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:00Z', '2026-10-25T00:30Z', 'the first of two'],
  ['30 2 * * *', 'Europe/Berlin', '2026-10-25T00:30Z', '2026-10-26T01:30Z', 'not the second'],
  ['0 3 * * *', 'Europe/Berlin', '2026-10-25T00:00Z', '2026-10-25T02:00Z', 'after both'],
  ['0 * * * *', 'Europe/Berlin', '2026-10-25T00:10Z', '2026-10-25T01:00Z', 'each hour goes on through both'],
  ['30 2 * * *', 'America/New_York', '2026-03-08T00:00Z', '2026-03-08T07:00Z', 'gap'],
  ['30 1 * * *', 'America/New_York', '2026-11-01T00:00Z', '2026-11-01T05:30Z', 'the first of two'],
  ['30 1 * * *', 'America/New_York', '2026-11-01T05:30Z', '2026-11-02T06:30Z', 'the next day'],
  ['0 0 29 2 *', 'UTC', '2026-01-01T00:00Z', '2028-02-29T00:00Z', 'leap year'],
  ['0 0 29 2 *', 'UTC', '2096-03-01T00:00Z', '2104-02-29T00:00Z', '2100 is no leap year'],
  ['0 12 31 * *', 'UTC', '2026-04-01T00:00Z', '2026-05-31T12:00Z', 'months of 30 days have none'],
  ['0 0 L 2 *', 'UTC', '2027-01-01T00:00Z', '2027-02-28T00:00Z', 'the last day'],
  ['0 0 13 * 5', 'UTC', '2026-02-01T00:00Z', '2026-02-06T00:00Z', 'a day of month or a weekday'],
  ['0 0 30 2 mon', 'UTC', '2026-02-01T00:00Z', '2026-02-02T00:00Z', 'the weekday fires where the day cannot'],
] as const

test('the next time follows daylight saving and leap years', () => {
  for (const [cron, zone, after, expected, why] of NEXT)
    assert.deepEqual(nextTime(cron, zone, new Date(after)), new Date(expected), `${cron} ${zone}: ${why}`)
})

test('the last time includes the very second', () => {
  const at = (time: string): Date | undefined => lastTime('0 23 * * 5', 'UTC', new Date(time))
  assert.deepEqual(at('2026-01-02T23:00:00Z'), new Date('2026-01-02T23:00Z'))
  assert.deepEqual(at('2026-01-02T22:59:59.999Z'), new Date('2025-12-26T23:00Z'))
})

test('a cron that never fires is known without a search', () => {
  const never =
    '0 0 30 2 *|0 0 31 4,6,9,11 *|0 0 31 feb,APR *|0 0 30,31 2 *|0 0 30-31 2-2 *|0 0 31-31/1 Apr-apr *|' +
    '0 0 31 4-6/2,9-11/2 *|0 0 031 02 *'
  for (const cron of never.split('|'))
    for (let round = 0; round < 1_000; round += 1) {
      assert.equal(nextTime(cron, 'America/New_York', new Date()), undefined)
      assert.equal(lastTime(cron, 'America/New_York', new Date()), undefined)
    }
})
