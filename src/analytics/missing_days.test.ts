import assert from 'node:assert/strict'
import { test } from 'node:test'
import { withMissingDays } from './missing_days.ts'

const row = (date: string, count: string): Record<string, string> => ({
  'T.time.day': `${date}T00:00:00.000`,
  'T.time': `${date}T00:00:00.000`,
  'T.count': count,
})
const query = (values: unknown, more: object = {}): Record<string, unknown> => ({
  measures: ['T.count'],
  filters: [
    { member: 'T.url', operator: 'equals', values: ['x'] },
    { member: 'T.time', operator: 'inDateRange', values },
  ],
  ...more,
})

test('days without a row are appended, over the end of a month and a leap day', () => {
  const rows = [row('2028-03-01', '4')]
  assert.deepEqual(withMissingDays(rows, query(['2028-02-28', '2028-03-02T23:59:59.999'])), [
    ...rows,
    row('2028-02-28', '0'),
    row('2028-02-29', '0'),
    row('2028-03-02', '0'),
  ])
})

test('rows stay as they are where there is no range of days to fill', () => {
  const rows = [row('2028-03-01', '4')]
  for (const same of [
    query(['2028-03-01', '2028-03-01']),
    query(['2028-03-02', '2028-03-01']),
    query(['0001-01-01', '9999-12-31']),
    query(['last week']),
    query('2028-03-01'),
    query(['2028-03-01', '2028-03-03'], { measures: [] }),
    query(['2028-03-01', '2028-03-03'], { filters: 'x' }),
    { measures: ['T.count'] },
  ])
    assert.deepEqual(withMissingDays(rows, same), rows)
  const range = query(['2028-03-01', '2028-03-03'])
  assert.deepEqual(withMissingDays([], range), [])
  assert.deepEqual(withMissingDays([{ 'T.count': '1' }], range), [{ 'T.count': '1' }])
})
