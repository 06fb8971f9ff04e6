import assert from 'node:assert/strict'
import { test } from 'node:test'
import { QueryRefusal, checkQuery } from './engine_query.ts'

const cubes = ['TrackedEvents', 'Sessions']
const range = ['2026-11-19', '2026-11-21']

test('a query may name members of the given cubes in every place and form', () => {
  checkQuery(
    {
      measures: ['TrackedEvents.count'],
      dimensions: ['Sessions.agent', 'TrackedEvents.utcTime.day'],
      segments: ['TrackedEvents.known'],
      timeDimensions: [{ dimension: 'TrackedEvents.utcTime', dateRange: range, granularity: 'day' }],
      filters: [
        { member: 'TrackedEvents.url', operator: 'equals', values: ['Payroll.sum'] },
        { or: [{ dimension: 'Sessions.agent', operator: 'set' }, { and: [{ member: 'Sessions.x' }] }] },
      ],
      order: { 'TrackedEvents.count': 'desc' },
      limit: 3,
      timezone: 'UTC',
    },
    cubes,
  )
  checkQuery({ order: [['TrackedEvents.count', 'desc']] }, cubes)
  checkQuery({ order: [{ id: 'TrackedEvents.count', desc: true }], measures: null }, cubes)
  checkQuery({}, cubes)
})

test('a member of another cube is refused wherever it stands', () => {
  const text = "Cube 'Payroll' not found for path 'Payroll.sum'"
  for (const query of [
    { measures: ['TrackedEvents.count', 'Payroll.sum'] },
    { measures: 'Payroll.sum' },
    { dimensions: ['Payroll.sum'] },
    { segments: ['Payroll.sum'] },
    { timeDimensions: [{ dimension: 'Payroll.sum' }] },
    { timeDimensions: { dimension: 'Payroll.sum' } },
    { filters: [{ member: 'Payroll.sum' }] },
    { filters: [{ member: 'Sessions.x', dimension: 'Payroll.sum' }] },
    { filters: [{ and: [{ or: [{ member: 'Payroll.sum' }] }] }] },
    { filters: [{ member: 'Sessions.x', or: [{ member: 'Payroll.sum' }] }] },
    { order: { 'Payroll.sum': 'asc' } },
    { order: [['Payroll.sum', 'asc']] },
    { order: [{ id: 'Payroll.sum' }] },
  ])
    assert.throws(() => checkQuery(query, cubes), new QueryRefusal(text), JSON.stringify(query))
})

test('members other than plain names are refused: expressions, join paths, names with more in them', () => {
  for (const query of [
    { measures: [{ cubeName: 'TrackedEvents', expression: ['return 1'] }] },
    { measures: ['TrackedEvents'] },
    { dimensions: ['TrackedEvents.Payroll.sum'] },
    { dimensions: ['TrackedEvents.x.day.more'] },
    { dimensions: ['TrackedEvents.x; drop table y'] },
    { timeDimensions: ['TrackedEvents.utcTime'] },
    { filters: [{}] },
    { filters: [{ or: ['x'] }] },
    { order: ['TrackedEvents.count'] },
  ])
    assert.throws(() => checkQuery(query, cubes), QueryRefusal, JSON.stringify(query))
})

test("keys that are not part of a query are refused in the engine's words", () => {
  for (const key of ['foo', 'joinHints', 'subqueryJoins'])
    assert.throws(
      () => checkQuery({ [key]: [] }, cubes),
      new QueryRefusal(`Invalid query format: "${key}" is not allowed`),
    )
})
