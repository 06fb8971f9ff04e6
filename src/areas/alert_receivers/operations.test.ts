import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { alertsOf, makeReceiver, send, type Receiver } from '../../../test/support/alerts.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld, visible } from '../../../test/support/stand.ts'
import { listen, request, speak } from '../../../test/support/wire.ts'
import type { Answered } from '../../../test/support/world.ts'
import { rotate, setActive } from '../../alerts/integrations.ts'
import { setSetting } from '../../core/settings/settings.ts'
import type { IntegrationType } from '../../db/schema/alerts.ts'
import type { Project } from '../../db/schema/tables.ts'

const world = sharedWorld()

interface Place {
  readonly project: Project
  readonly receiver: Receiver
}
async function place(type: IntegrationType = 'http'): Promise<Place> {
  const project = await world().make.project()
  return { project, receiver: await makeReceiver(world(), project, type) }
}
const fixture = (name: string): Promise<string> =>
  readFile(new URL(`../../../test/fixtures/senders/${name}.json`, import.meta.url), 'utf8')
const bare = ({ status, text }: Answered): [number, string] => [status, text]

const NOTIFICATION = {
  receiver: 'r',
  status: 'firing',
  groupLabels: {},
  commonLabels: {},
  commonAnnotations: {},
  externalURL: 'http://am',
  version: '4',
  groupKey: '{}',
}
const notification = (...alerts: object[]): object => ({ ...NOTIFICATION, alerts })

test('a payload becomes an alert with everything it says', async () => {
  const { project, receiver } = await place()
  const payload = {
    title: 'Disk full',
    description: 'sda1',
    start_time: '2026-05-03T09:05:00+02:00',
    service: 'store',
    monitoring_tool: 'Nagios',
    hosts: ['a', ['b', 'c']],
    severity: 'High',
    fingerprint: ['x', 'y'],
    svc_environment_name: 'production',
    own: { nested: [1, { deep: true }] },
  }
  const answer = await send(world(), receiver, payload)
  assert.deepEqual([answer.status, answer.body], [200, [{ iid: 1, title: 'Disk full' }]])
  assert.equal(answer.headers['content-type'], 'application/json')
  const [alert] = await alertsOf(world(), project)
  assert.ok(alert)
  const {
    id: _id,
    project_id: _project,
    created_at: _c,
    updated_at: _u,
    ...rest
  } = alert as Record<string, unknown>
  assert.deepEqual(rest, {
    iid: 1,
    integration_id: receiver.id,
    issue_id: null,
    title: 'Disk full',
    description: 'sda1',
    service: 'store',
    monitoring_tool: 'Nagios',
    hosts: ['a', 'b', 'c'],
    severity: 'high',
    status: 'triggered',
    environment: 'production',
    // sha1 of "xy"
    fingerprint: '5f8459982f9f619f4b0d9af2542a2086e56a4bef',
    events: 1,
    started_at: '2026-05-03 07:05:00+00',
    ended_at: null,
    payload: JSON.stringify(payload),
  })
})

test('an empty payload is an alert of its own each time, with the defaults', async () => {
  const { project, receiver } = await place()
  for (const payload of ['', '{}', { start_time: '2026-01-01T00:00:00Z', hosts: ['x'] }])
    assert.equal((await send(world(), receiver, payload)).status, 200)
  const alerts = await alertsOf(world(), project)
  assert.deepEqual(
    alerts.map(({ iid, title, severity, fingerprint, hosts }) => [iid, title, severity, fingerprint, hosts]),
    [
      [1, 'New: Alert', 'critical', null, []],
      [2, 'New: Alert', 'critical', null, []],
      [3, 'New: Alert', 'critical', null, ['x']],
    ],
  )
})

test('the same payload again counts an event, whatever the alert is short of resolved', async () => {
  const { project, receiver } = await place()
  const payload = { title: 'Down', service: 'api' }
  await send(world(), receiver, payload)
  for (const status of ['triggered', 'acknowledged', 'ignored']) {
    await rowsOf(world(), 'update alerts set status = $1 where project_id = $2', [status, project.id])
    const again = { ...payload, hosts: [status], start_time: '2026-01-01T00:00:00Z' }
    const answer = await send(world(), receiver, again)
    assert.deepEqual([answer.status, answer.body], [200, [{ iid: 1, title: 'Down' }]])
    const [alert, ...others] = await alertsOf(world(), project)
    assert.deepEqual([alert?.status, alert?.['hosts'], others], [status, [], []])
  }
  assert.equal((await alertsOf(world(), project))[0]?.events, 4)
})

test('an end time resolves the alert, and the same payload then raises a new one', async () => {
  const { project, receiver } = await place()
  await send(world(), receiver, { title: 'Down' })
  const ended = await send(world(), receiver, { title: 'Down', end_time: '2026-06-01T10:00:00Z' })
  assert.deepEqual([ended.status, ended.body], [200, [{ iid: 1, title: 'Down' }]])
  const [alert] = await alertsOf(world(), project)
  assert.deepEqual(
    [alert?.status, alert?.['ended_at'], alert?.events],
    ['resolved', '2026-06-01 10:00:00+00', 1],
  )
  const again = await send(world(), receiver, { title: 'Down', end_time: '2026-06-01T10:00:00Z' })
  assert.deepEqual(bare(again), [400, ''])
  assert.deepEqual((await send(world(), receiver, { title: 'Down' })).body, [{ iid: 2, title: 'Down' }])
})

test('a resolution without a match is 400 and stores nothing', async () => {
  const { project, receiver } = await place()
  for (const payload of [
    { title: 'never seen', end_time: '2026-06-01T10:00:00Z' },
    { end_time: '2026-06-01T10:00:00Z' },
    { fingerprint: 'gone', end_time: 1780308000000 },
  ])
    assert.deepEqual(bare(await send(world(), receiver, payload)), [400, ''])
  assert.deepEqual(await alertsOf(world(), project), [])
})

test('every item of a notification is an alert, also at the URL of another format', async () => {
  for (const type of ['prometheus', 'http'] as const) {
    const { project, receiver } = await place(type)
    const firing = await fixture('alertmanager_firing')
    const answer = await send(world(), receiver, firing)
    // Both instances have one title, start and query, which make the fingerprint: only the queries differ.
    assert.deepEqual(answer.body, [
      { iid: 1, title: 'Latency above 1s' },
      { iid: 2, title: 'Latency above 1s' },
    ])
    await send(world(), receiver, firing)
    const resolved = await send(world(), receiver, await fixture('alertmanager_resolved'))
    assert.deepEqual(resolved.body, answer.body)
    const alerts = await alertsOf(world(), project)
    assert.deepEqual(
      alerts.map((one) => [
        one.status,
        one.events,
        one['monitoring_tool'],
        one['severity'],
        one['description'],
      ]),
      [
        ['resolved', 2, 'Prometheus', 'critical', 'p99 1.4s'],
        ['resolved', 2, 'Prometheus', 'critical', null],
      ],
    )
    assert.deepEqual(alerts[0]?.['ended_at'], '2026-11-21 05:08:33.548+00')
  }
})

test('a notification skips items without a title or a start, ignores unmatched resolutions, and takes 100', async () => {
  const { project, receiver } = await place('prometheus')
  const good = { status: 'firing', labels: { alertname: 'X' }, startsAt: '2026-01-01T00:00:00Z' }
  const answer = await send(
    world(),
    receiver,
    notification({ ...good, startsAt: null }, { ...good, labels: {} }, { ...good, status: 'resolved' }, good),
  )
  assert.deepEqual([answer.status, answer.body], [200, [{ iid: 1, title: 'X' }]])
  const many = Array.from({ length: 101 }, (_, n) => ({ ...good, annotations: { title: `T${n}` } }))
  const hundred = await send(world(), receiver, notification(...many))
  assert.equal((hundred.body as unknown[]).length, 100)
  assert.equal((await alertsOf(world(), project)).length, 101)
  assert.deepEqual((await send(world(), receiver, notification())).body, [])
})

test('a bearer key and a Basic password open a receiver, whatever the user name', async () => {
  const { receiver } = await place()
  const basic = (pair: string): string => `Basic ${Buffer.from(pair).toString('base64')}`
  const { key } = receiver
  for (const authorization of [
    `Bearer ${key}`,
    `bearer ${key}`,
    basic(`:${key}`),
    basic(`prometheus:${key}`),
  ])
    assert.equal((await send(world(), receiver, {}, { authorization })).status, 200, authorization)
  for (const authorization of ['', key, `Token ${key}`, `Bearer x${key}`, basic(key), basic(`${key}:`)])
    assert.deepEqual(bare(await send(world(), receiver, {}, { authorization })), [401, ''], authorization)
})

test('a wrong key cannot be told from none, nor an absent integration from an inactive one', async () => {
  const { project, receiver } = await place()
  const other = await world().make.project()
  const inactive = await place()
  await rowsOf(world(), 'update alert_integrations set active = false where id = $1', [inactive.receiver.id])
  const ask = async (path: string, authorization?: string): Promise<[object, number]> => {
    let answer: Answered | undefined
    const sent = await world().statements(async () => {
      answer = await world().call('POST', `{base_url}${path}`, {
        body: {},
        ...(authorization !== undefined && { headers: { authorization } }),
      })
    })
    return [answer ? visible(answer) : {}, sent.length]
  }
  const wrong = await ask(receiver.path, 'Bearer 0123456789abcdef0123456789abcdef')
  for (const authorization of [undefined, 'Bearer ', 'Basic Og==', `Bearer ${inactive.receiver.key}`])
    assert.deepEqual(await ask(receiver.path, authorization), wrong)
  assert.deepEqual([(wrong[0] as { status: number }).status, wrong[1]], [401, 1])
  const absent = await ask(`/${other.full_path}/alerts/notify.json`, `Bearer ${receiver.key}`)
  assert.deepEqual([(absent[0] as { status: number }).status, absent[1]], [403, 1])
  for (const path of [
    inactive.receiver.path,
    '/no/such/alerts/notify.json',
    `/${project.full_path}/alerts/notify/any/0000000000000000.json`,
    `/${project.full_path}/alerts/notify/any/legacy-prometheus.json`,
  ])
    assert.deepEqual(await ask(path, `Bearer ${receiver.key}`), absent, path)
})

test('the metrics format answers 401 for an absent integration too', async () => {
  const { project } = await place()
  for (const path of ['/prometheus/alerts/notify.json', '/alerts/notify/x/0000000000000000.json'])
    assert.deepEqual(
      bare(await world().call('POST', `{base_url}/${project.full_path}${path}`, { body: notification() })),
      [401, ''],
    )
})

test('the metrics URL wants every key of its format, before it looks at the key of the sender', async () => {
  const { receiver } = await place('prometheus')
  for (const name of Object.keys(notification())) {
    const { [name]: _left, ...rest } = notification() as Record<string, unknown>
    assert.deepEqual(bare(await send(world(), receiver, rest, {})), [422, ''], name)
  }
  assert.equal((await send(world(), receiver, { ...notification(), extra: 1 })).status, 200)
  // Grafana's version: not the metrics format, and nothing lacks.
  const grafana = await send(world(), receiver, { ...notification(), version: '1', title: '[FIRING] x' })
  assert.deepEqual(grafana.body, [{ iid: 1, title: '[FIRING] x' }])
})

test('a payload that is too large, too deep or no object is 400, before its sender is known', async () => {
  const { project, receiver } = await place()
  const deep = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
  assert.equal((await send(world(), receiver, deep(100))).status, 200)
  const before = await alertsOf(world(), project)
  for (const payload of [
    JSON.stringify({ title: 'x'.repeat(1024 * 1024) }),
    deep(101),
    '[]',
    '"x"',
    '{"title":',
    Buffer.from([0x7b, 0xff, 0x7d]).toString('latin1'),
  ])
    assert.deepEqual(bare(await send(world(), receiver, payload, {})), [400, ''], payload.slice(0, 20))
  assert.deepEqual(await alertsOf(world(), project), before)
})

test('texts are cut to their lengths, and what PostgreSQL cannot store is left out of columns alone', async () => {
  const { project, receiver } = await place()
  const payload = `{"title":"${'é'.repeat(201)}","description":"a\\u0000b\\ud800","service":"${'s'.repeat(101)}"}`
  assert.equal((await send(world(), receiver, payload)).status, 200)
  const [alert] = await alertsOf(world(), project)
  assert.equal(alert?.title, `${'é'.repeat(197)}...`)
  assert.deepEqual([alert?.['description'], alert?.['payload']], ['ab\ufffd', payload])
  assert.equal(alert?.['service'], `${'s'.repeat(97)}...`)
})

test('blank bodies, byte order marks and names of Object.prototype are stored as alerts', async () => {
  const { project, receiver } = await place()
  const metrics = notification({
    status: 'firing',
    labels: { alertname: 'M', severity: 'constructor' },
    startsAt: '0001-01-01T00:00:01Z',
  })
  for (const payload of [
    ' \n',
    'null',
    '\ufeff{"title":"marked"}',
    '{"title":"own","__proto__":{"title":"x"},"constructor":1,"severity":"__proto__"}',
    JSON.stringify(metrics).replace('constructor', '__proto__'),
    JSON.stringify(metrics),
    '{"title":"far","start_time":"9999-12-31T23:59:59Z","hosts":["a,b","{c}","\\"\\\\"]}',
    '{"title":"large number","own":1e99999}',
  ])
    assert.equal((await send(world(), receiver, payload)).status, 200, payload)
  const alerts = await alertsOf(world(), project)
  assert.deepEqual(
    alerts.map((one) => [one.title, one['severity'], one.events, one['payload']]).slice(0, 4),
    [
      ['New: Alert', 'critical', 1, '{}'],
      ['New: Alert', 'critical', 1, 'null'],
      ['marked', 'critical', 1, '{"title":"marked"}'],
      [
        'own',
        'critical',
        1,
        '{"title":"own","__proto__":{"title":"x"},"constructor":1,"severity":"__proto__"}',
      ],
    ],
  )
  assert.deepEqual(
    alerts
      .slice(4)
      .map((one) => [one.title, one.events, one['started_at'], one['hosts']])
      .slice(0, 2),
    [
      ['M', 2, '0001-01-01 00:00:01+00', []],
      ['far', 1, '9999-12-31 23:59:59+00', ['a,b', '{c}', '"\\']],
    ],
  )
})

test('long arrays and texts are taken up to 50,000 members, and compressed bodies are refused', async () => {
  const { project, receiver } = await place()
  const long = JSON.stringify({
    title: 'x'.repeat(300_000),
    hosts: Array.from({ length: 40_000 }, () => 'h'),
    fingerprint: 'f'.repeat(300_000),
  })
  assert.equal((await send(world(), receiver, long)).status, 200)
  const [alert] = await alertsOf(world(), project)
  assert.ok(alert)
  assert.deepEqual([alert.title.length, (alert['hosts'] as string[]).length], [200, 255])
  const many = JSON.stringify({ own: Array.from({ length: 500_000 }, () => 1) })
  assert.deepEqual(bare(await send(world(), receiver, many)), [400, ''])
  const packed = gzipSync(JSON.stringify({ title: 'packed' }))
  const answer = await world().call('POST', `{base_url}${receiver.path}`, {
    body: packed as unknown as string,
    headers: { authorization: `Bearer ${receiver.key}`, 'content-encoding': 'gzip' },
  })
  assert.deepEqual(bare(answer), [400, ''])
  assert.equal((await alertsOf(world(), project)).length, 1)
})

test('an address with characters that no path has is refused the same with and without a key', async () => {
  const { receiver } = await place()
  for (const [path, status] of [
    ['/a%00b/c/alerts/notify.json', 400],
    [receiver.path.replace('notify.json', 'notify/a/%00.json'), 400],
    ['/%F0%9F%98%80/a%25b/alerts/notify.json', 403],
  ] as const)
    for (const key of [receiver.key, 'wrong']) {
      const headers = { authorization: `Bearer ${key}` }
      const answer = await world().call('POST', `{base_url}${path}`, { body: {}, headers })
      assert.equal(answer.status, status, path)
    }
})

test('a rotated key opens nothing, and a disabled integration takes neither key', async () => {
  const { project, receiver } = await place()
  const { db } = world().opened.instance
  const rotated = await rotate(db, project.id, receiver.id)
  assert.ok(rotated)
  assert.deepEqual(bare(await send(world(), receiver, {})), [401, ''])
  const fresh = { ...receiver, key: rotated.key }
  assert.equal((await send(world(), fresh, {})).status, 200)
  await setActive(db, project.id, { id: receiver.id, active: false })
  for (const one of [receiver, fresh]) assert.deepEqual(bare(await send(world(), one, {})), [403, ''])
})

test('a project below groups, with its path as it is or encoded, and one named prometheus, are reached', async () => {
  const group = await world().make.group()
  const inner = await world().make.group({ parent: group, path: 'prometheus' })
  const named = await world().make.project({ group, path: 'api' })
  const odd = await world().make.project({ group: inner, path: 'prometheus' })
  for (const project of [named, odd]) {
    const receiver = await makeReceiver(world(), project)
    assert.equal((await send(world(), receiver, { title: 'x' })).status, 200, receiver.path)
    const encoded = receiver.path.replace(project.full_path, encodeURIComponent(project.full_path))
    assert.equal((await send(world(), { ...receiver, path: encoded }, { title: 'x' })).status, 200)
    assert.equal((await alertsOf(world(), project))[0]?.events, 2)
  }
})

test('further integrations answer at URLs with their name and identifier, of which the name plays no part', async () => {
  const { project } = await place()
  const second = await makeReceiver(world(), project)
  assert.match(second.path, /\/alerts\/notify\/main-sender\/[0-9a-f]{16}\.json$/)
  assert.equal((await send(world(), second, { title: 'x' })).status, 200)
  const renamed = { ...second, path: second.path.replace('main-sender', 'whatever') }
  assert.equal((await send(world(), renamed, { title: 'x' })).status, 200)
  const [alert] = await alertsOf(world(), project)
  assert.deepEqual([alert?.['integration_id'], alert?.events], [second.id, 2])
})

test('without a licence of premium the first integration of each type alone takes alerts', async () => {
  const { project, receiver } = await place()
  const second = await makeReceiver(world(), project)
  const metrics = await makeReceiver(world(), project, 'prometheus')
  const { db, settings } = world().opened.instance
  await setSetting(db, 'tier', 'free')
  await settings.reload()
  try {
    assert.equal((await send(world(), receiver, { title: 'x' })).status, 200)
    assert.equal((await send(world(), metrics, notification())).status, 200)
    assert.deepEqual(bare(await send(world(), second, { title: 'x' })), [403, ''])
    assert.deepEqual(bare(await send(world(), second, notification())), [401, ''])
    assert.equal((await send(world(), { ...second, key: 'wrong' }, { title: 'x' })).status, 401)
  } finally {
    await world().make.sql(`delete from settings where name = 'tier'`)
    await settings.reload()
  }
  assert.equal((await send(world(), second, { title: 'x' })).status, 200)
})

test('an archived project takes no alerts', async () => {
  const { project, receiver } = await place()
  await rowsOf(world(), 'update projects set archived = true where id = $1', [project.id])
  assert.deepEqual(bare(await send(world(), receiver, {})), [403, ''])
})

test('a receiver has no other method, and neither keys nor payloads reach the log', async () => {
  const { receiver } = await place()
  const got = await world().get(`{base_url}${receiver.path}`)
  assert.deepEqual([got.status, got.headers['allow']], [405, 'POST'])
  await send(world(), receiver, { title: 'very private title' })
  const log = world().logs.join('')
  assert.ok(!log.includes(receiver.key) && !log.includes('very private'))
})

test('of thirty requests with one new fingerprint one makes the alert, and all are counted', async () => {
  const { project, receiver } = await place()
  const answers = await Promise.all(
    Array.from({ length: 30 }, () => send(world(), receiver, { fingerprint: 'same', title: 'x' })),
  )
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  const [alert, ...others] = await alertsOf(world(), project)
  assert.deepEqual([alert?.events, others], [30, []])
})

test('past 64 requests at once the answer is 503 with Retry-After, and what was answered 200 is stored', async () => {
  const { project, receiver } = await place()
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, n) => send(world(), receiver, { title: `t${n}` })),
  )
  const refused = answers.filter(({ status }) => status === 503)
  assert.ok(refused.length > 0)
  for (const one of refused) assert.deepEqual([one.headers['retry-after'], one.text], ['1', ''])
  const stored = await alertsOf(world(), project)
  assert.equal(stored.length, answers.filter(({ status }) => status === 200).length)
  assert.equal(stored.length + refused.length, 200)
})

test('bodies that arrive slowly give their places to other senders, and are told to repeat', async () => {
  const { project, receiver } = await place()
  const { app } = world()
  const port = await listen(app)
  const head = request(`POST ${receiver.path}`, { connection: 'keep-alive', 'content-length': '1000' })
  const sockets: Socket[] = []
  const slow = Array.from({ length: 64 }, () =>
    speak(port, async (socket) => {
      sockets.push(socket)
      socket.write(`${head}{`)
    }),
  )
  const connected = promisify(app.server.getConnections.bind(app.server))
  while ((await connected()) < 64) await setTimeout(20)
  await setTimeout(400)
  for (const title of ['one', 'two'])
    assert.equal((await send(world(), receiver, { title })).status, 200, title)
  const heard = await Promise.race(slow)
  assert.deepEqual([heard.statuses, heard.closed], [[503], true])
  assert.match(heard.text, /^retry-after: 1\r$/im)
  assert.deepEqual(
    (await alertsOf(world(), project)).map(({ title }) => title),
    ['one', 'two'],
  )
  for (const socket of sockets) socket.destroy()
  await Promise.all(slow)
})

test('a new alert and a repeated one cost two statements each', async () => {
  const { receiver } = await place()
  for (const time of ['new', 'repeated'])
    assert.equal((await world().statements(() => send(world(), receiver, { title: 'x' }))).length, 2, time)
})
