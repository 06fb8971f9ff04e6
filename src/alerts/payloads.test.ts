import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AlertMapping } from '../db/schema/alerts.ts'
import { readGeneric } from './generic.ts'
import { BadMapping, readMapping } from './mapping.ts'
import { isMetricsFormat, readMetrics } from './prometheus.ts'
import { hostsOf, momentOf, truncate, type Incoming, type Payload } from './values.ts'

const now = new Date('2026-01-02T03:04:05Z')
const generic = (payload: Payload, mapping: AlertMapping | null = null, fingerprinting = true): Incoming =>
  readGeneric(payload, JSON.stringify(payload), { mapping, fingerprinting, now })
const item = (part: object): Incoming | undefined =>
  readMetrics(
    { alerts: [{ startsAt: '2026-01-01T00:00:00Z', labels: { alertname: 'A' }, status: 'firing', ...part }] },
    now,
  )[0]
const hex = (one: Incoming | undefined): string | undefined => one?.fingerprint?.toString('hex')

test('a generic severity is one of six words in any case, else critical', () => {
  for (const word of ['critical', 'high', 'medium', 'low', 'info', 'unknown'])
    assert.equal(generic({ severity: word.toUpperCase() }).severity, word)
  for (const word of [undefined, null, '', 'warning', 's1', 3, ['low']])
    assert.equal(generic({ severity: word }).severity, 'critical', String(word))
})

test('a metrics severity is mapped in any case, else critical', () => {
  const rows = {
    critical: 'critical s1 p1 emergency fatal other',
    high: 'high s2 p2 major page',
    medium: 'medium s3 p3 error alert',
    low: 'low s4 p4 warn warning minor',
    info: 'info s5 p5 debug information notice',
    unknown: 'unknown',
  }
  for (const [severity, words] of Object.entries(rows))
    for (const word of words.split(' '))
      assert.equal(
        item({ labels: { alertname: 'A', severity: word.toUpperCase() } })?.severity,
        severity,
        word,
      )
  assert.equal(item({})?.severity, 'critical')
})

test('the title of an item is its title, its summary or the name of the alert, in this order', () => {
  const labels = { alertname: 'name' }
  assert.equal(item({ labels, annotations: { title: 'title', summary: 'summary' } })?.title, 'title')
  assert.equal(item({ labels, annotations: { title: ' ', summary: 'summary' } })?.title, 'summary')
  assert.equal(item({ labels })?.title, 'name')
  assert.equal(item({ labels: {}, annotations: {} }), undefined)
  assert.equal(item({ startsAt: '' }), undefined)
})

test('the fingerprint of an item is its start as it is written, its title and its query', () => {
  const generatorURL = 'http://p/graph?g0.expr=x+%3E+1&g0.tab=1'
  // sha1 of "2026-01-01T00:00:00Z/A/x > 1" and of "2026-01-01T00:00:00Z/A/"
  assert.equal(hex(item({ generatorURL })), '3d8b2106e0baea1153731867ab59f6b7f8116e74')
  assert.equal(hex(item({})), 'c78394bce49a54b85eab88958bbccd56a33724c5')
  assert.equal(hex(item({ generatorURL: 'no address' })), hex(item({})))
  assert.equal(hex(item({ labels: { alertname: 'A', instance: 'b' } })), hex(item({})))
  assert.notEqual(hex(item({ startsAt: '2026-01-01T00:00:00.0Z' })), hex(item({})))
})

test('the status of an item alone resolves it, and the year 1 is no end', () => {
  const end = '2026-01-01T01:00:00Z'
  assert.deepEqual([item({ endsAt: end })?.resolves, item({ endsAt: end })?.ended_at], [false, new Date(end)])
  for (const endsAt of ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z', '0001-01-01T00:00:00+00:00'])
    assert.equal(item({ endsAt })?.ended_at, null, endsAt)
  assert.deepEqual(item({ status: 'resolved', endsAt: '0001-01-01T00:00:00.000Z' })?.ended_at, now)
  assert.deepEqual(item({ status: 'resolved', endsAt: end })?.ended_at, new Date(end))
  assert.deepEqual(item({ status: 'resolved' })?.ended_at, now)
  assert.equal(item({ status: 'Resolved' })?.resolves, false)
})

test('environments are read under their own name first, under the platform name second', () => {
  assert.equal(generic({ gitlab_environment_name: 'a' }).environment, 'a')
  assert.equal(generic({ svc_environment_name: 'b', gitlab_environment_name: 'a' }).environment, 'b')
  assert.equal(item({ labels: { alertname: 'A', gitlab_environment_name: 'c' } })?.environment, 'c')
})

test('the metrics format has nine keys and version "4"', () => {
  const keys =
    'alerts commonAnnotations commonLabels externalURL groupKey groupLabels receiver status version'
  const payload = Object.fromEntries(keys.split(' ').map((key) => [key, key === 'version' ? '4' : null]))
  assert.equal(isMetricsFormat(payload), true)
  assert.equal(isMetricsFormat({ ...payload, more: 1 }), true)
  for (const version of ['1', 4, null]) assert.equal(isMetricsFormat({ ...payload, version }), false)
  for (const key of keys.split(' ')) {
    const { [key]: _left, ...rest } = payload
    assert.equal(isMetricsFormat(rest), false, key)
  }
})

test('moments are ISO 8601, UTC without a zone, or epoch milliseconds', () => {
  const rows: [unknown, string | undefined][] = [
    ['2026-05-03T09:05:00Z', '2026-05-03T09:05:00.000Z'],
    ['2026-05-03T09:05:00+02:00', '2026-05-03T07:05:00.000Z'],
    ['2026-05-03T09:05:00', '2026-05-03T09:05:00.000Z'],
    ['2026-05-03 09:05:00 UTC', '2026-05-03T09:05:00.000Z'],
    ['2026-05-03T09:05:00.123456789Z', '2026-05-03T09:05:00.123Z'],
    ['2026-05-03', '2026-05-03T00:00:00.000Z'],
    [1777799100000, '2026-05-03T09:05:00.000Z'],
    ...['', 'soon', 'May 3 2026', '2026-13-40', '1', null, {}, NaN, 8.7e15].map(
      (value): [unknown, undefined] => [value, undefined],
    ),
  ]
  for (const [value, expected] of rows)
    assert.equal(momentOf(value)?.toISOString(), expected, JSON.stringify(value))
})

test('an unparsable end does not resolve, an unparsable start is now', () => {
  const alert = generic({ title: 'x', start_time: 'soon', end_time: 'later' })
  assert.deepEqual([alert.resolves, alert.ended_at, alert.started_at], [false, null, now])
})

test('an explicit fingerprint is hashed as it is, an array joined without a separator', () => {
  assert.equal(hex(generic({ fingerprint: 'ab' })), hex(generic({ fingerprint: ['a', ['b']] })))
  assert.equal(hex(generic({ fingerprint: 'ab' }, null, false)), hex(generic({ fingerprint: 'ab' })))
  assert.equal(hex(generic({ fingerprint: '' }, null, false)), undefined)
})

test('without one the payload makes the fingerprint, but for start, end, hosts and the order of keys', () => {
  const payload = { title: 'x', own: { a: 1, b: [2] } }
  const changing = { hosts: ['h'], start_time: '2026-01-01', end_time: '2026-01-02' }
  assert.equal(hex(generic({ ...changing, own: { b: [2], a: 1 }, title: 'x' })), hex(generic(payload)))
  assert.notEqual(hex(generic({ ...payload, service: 's' })), hex(generic(payload)))
  assert.equal(hex(generic(payload, null, false)), undefined)
  for (const empty of [{}, changing, { title: null }, { title: '', own: {} }])
    assert.equal(hex(generic(empty)), undefined, JSON.stringify(empty))
})

test('hosts fit into 255 characters: one is cut without dots, the rest is dropped', () => {
  assert.deepEqual(hostsOf('one'), ['one'])
  assert.deepEqual(hostsOf([['a'], [null, ['b', 1]]]), ['a', 'b', '1'])
  assert.deepEqual(hostsOf(undefined), [])
  assert.deepEqual(hostsOf(['x'.repeat(250), 'y'.repeat(10), 'z']), ['x'.repeat(250), 'y'.repeat(5)])
})

test('a text that is too long ends with three dots at its limit', () => {
  assert.equal(truncate('abcdef', 6), 'abcdef')
  assert.equal(truncate('abcdefg', 6), 'abc...')
  assert.equal(truncate('😀'.repeat(7), 6), '😀😀😀...')
})

const SAMPLE = { alert: { name: 'N', 'end time': '2026-01-01', hosts: [{ ip: 'h' }] }, level: 'low' }
const paths = (of: object): AlertMapping => readMapping({ sample: SAMPLE, paths: of })

test('a mapped path is read first, the default key second', () => {
  const mapping = paths({ title: '$.alert.name', hosts: '$.alert.hosts[0].ip', severity: '$.level' })
  const alert = generic({ ...SAMPLE, title: 'default', service: 's' }, mapping)
  assert.deepEqual([alert.title, alert.hosts, alert.severity, alert.service], ['N', ['h'], 'low', 's'])
  assert.equal(generic({ title: 'default', alert: {} }, mapping).title, 'default')
})

test('with a mapping the mapped end resolves, and is no part of the fingerprint', () => {
  const mapping = paths({ end_time: "$.alert['end time']" })
  const [open, ended] = [
    generic({ alert: { name: 'N' } }, mapping),
    generic({ alert: { name: 'N', 'end time': '2026-01-01' } }, mapping),
  ]
  assert.deepEqual([open.resolves, ended.resolves], [false, true])
  assert.equal(hex(open), hex(ended))
})

test('a mapping that leads nowhere, or names what is no attribute, is refused', () => {
  for (const of of [
    { title: '$.alert.gone' },
    { title: 'alert.name' },
    { title: '$' },
    { title: '$.alert[name]' },
    { title: '$..name' },
    { title: 1 },
    { colour: '$.level' },
  ])
    assert.throws(() => paths(of), BadMapping, JSON.stringify(of))
  for (const file of [null, [], {}, { paths: {} }, { sample: [], paths: {} }])
    assert.throws(() => readMapping(file), BadMapping)
})
