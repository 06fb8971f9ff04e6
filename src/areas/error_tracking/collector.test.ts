import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { deflateSync, gzipSync } from 'node:zlib'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld, visible } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import { create } from '../../errors/client_keys.ts'
import { dropOldPartitions } from '../../errors/partitions.ts'
import { list, setStatus, type CollectedError } from '../../errors/reading.ts'
import { save } from '../../errors/settings.ts'
import { setSetting } from '../../core/settings/settings.ts'
import type { Project } from '../../db/schema/tables.ts'

const world = sharedWorld()

interface Place {
  readonly project: Project
  readonly key: string
}
async function place(): Promise<Place> {
  const { instance } = world().opened
  const project = await world().make.project()
  await save(instance.db, { project_id: project.id, active: true, integrated: true })
  const { sealed } = await create(instance, project.id)
  return { project, key: instance.vault.open(sealed) }
}

type Kind = 'store' | 'envelope'
const send = (
  { project, key }: Place,
  kind: Kind,
  payload: string | Buffer,
  headers: Record<string, string> = {},
): Promise<Answered> =>
  world().call('POST', `/error_tracking/collector/api/${project.id}/${kind}/?sentry_key=${key}`, {
    body: payload as string,
    headers: { 'content-type': 'application/octet-stream', ...headers },
  })
const md5 = (text: string): string => createHash('md5').update(text).digest('hex')
const ascending = (a: string, b: string): number => (a < b ? -1 : 1)
const envelope = (...events: object[]): string =>
  ['{}', ...events.flatMap((event) => ['{"type":"event"}', JSON.stringify(event)])].join('\n')
const errorsOf = ({ project }: Place): Promise<CollectedError[]> =>
  list(world().opened.instance.db, project.id, { limit: 100 })

const frames = [
  { filename: 'node:internal', function: 'run', in_app: false },
  { module: 'app', filename: '/srv/app.js', function: 'boom', lineno: 3, in_app: true },
]
const thrown = (value: string, more: object = {}): object => ({
  exception: { values: [{ type: 'TypeError', value, stacktrace: { frames } }] },
  ...more,
})

interface Captured {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: string
}
const captured = async (name: string): Promise<Captured[]> =>
  (await readFile(new URL(`../../../test/fixtures/senders/${name}.jsonl`, import.meta.url), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Captured)

/** Sends a captured request to a place, with its key in place of the captured one. */
function replay(to: Place, { url, headers, body }: Captured): Promise<Answered> {
  const {
    host: _host,
    connection: _connection,
    'content-length': _length,
    'transfer-encoding': _te,
    ...rest
  } = headers
  const withKey = (text: string): string =>
    text.replaceAll(/glet_0123(456789abcdef0123456789abcdef)?/g, to.key)
  const path = withKey(url).replace('/api/v4', '').replace('/api/42/', `/api/${to.project.id}/`)
  const sent = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, withKey(value)]))
  const payload = headers['content-encoding'] === 'gzip' ? gzipSync(body) : body
  return world().call('POST', path, { body: payload as string, headers: sent })
}

test('everything that captured SDKs sent is taken, and their events are grouped errors', async () => {
  const to = await place()
  for (const name of ['sentry_node_10', 'sentry_node_7_raven_python'])
    for (const request of await captured(name)) {
      const answer = await replay(to, request)
      assert.deepEqual(
        [answer.status, answer.headers['content-type']],
        [200, 'application/json'],
        answer.text,
      )
    }
  const errors = await errorsOf(to)
  assert.deepEqual(
    errors
      .map(({ name, platform, releases }) => `${name.slice(0, 20)} ${platform} ${releases.join()}`)
      .toSorted(),
    [
      'Error node ',
      'Error node r7',
      'TypeError node app@1.2.3',
      'ZeroDivisionError python py1',
      'a plain message node app@1.2.3',
      `${'x'.repeat(20)} node r7`,
    ],
  )
})

test('events with one type and one stack are one error, with counts, releases and affected users', async () => {
  const to = await place()
  const user = (id: string): object => ({ user: { id } })
  const at = (timestamp: number): object => ({ timestamp })
  await send(to, 'envelope', envelope(thrown('x of 1', { release: 'a', ...user('1'), ...at(1_700_000_000) })))
  await send(to, 'envelope', envelope(thrown('x of 2', { release: 'b', ...user('2'), ...at(1_700_000_100) })))
  await send(
    to,
    'store',
    JSON.stringify(thrown('x of 3', { release: 'b', ...user('2'), ...at(1_700_000_050) })),
  )
  const [error, ...others] = await errorsOf(to)
  const { id: _id, ...rest } = error ?? ({} as CollectedError)
  assert.deepEqual(others, [])
  assert.deepEqual(JSON.parse(JSON.stringify(rest)), {
    name: 'TypeError',
    description: 'x of 3',
    actor: 'boom in app',
    platform: null,
    level: 'error',
    status: 'unresolved',
    events: 3,
    first_seen_at: '2023-11-14T22:13:20.000Z',
    last_seen_at: '2023-11-14T22:15:00.000Z',
    users: 2,
    releases: ['b', 'a'],
  })
})

test('byte order marks, NUL and names of Object.prototype are taken as errors', async () => {
  const to = await place()
  const odd = JSON.stringify({
    exception: [{ type: 'a\u0000b', value: '\ud800', stacktrace: { frames: [null, { function: {} }] } }],
    release: '\u0000',
    user: { id: '\u0000x' },
    platform: 'constructor',
    fingerprint: ['__proto__', { deep: [] }],
  })
  for (const [kind, payload] of [
    ['store', `\ufeff${odd}`],
    ['envelope', `{}\n{"type":"event"}\n\ufeff${odd}`],
    ['envelope', `{}\n{"type":"event"}\n ${odd.replace('{', '{"__proto__":{"exception":1},')}`],
  ] as const)
    assert.equal((await send(to, kind, payload)).status, 200, payload)
  const [error, ...others] = await errorsOf(to)
  assert.deepEqual([error?.name, error?.events, error?.users, others], ['ab', 3, 1, []])
})

test('an event of the future is kept at the time of its arrival', async () => {
  const to = await place()
  for (const timestamp of [253370764800, '9999-12-31T00:00:00', Date.now() / 1000 + 3600])
    assert.equal((await send(to, 'store', JSON.stringify(thrown('x', { timestamp })))).status, 200)
  assert.equal((await send(to, 'store', JSON.stringify(thrown('x', { timestamp: 86_400 })))).status, 200)
  const [error] = await errorsOf(to)
  assert.ok(error && error.last_seen_at.getTime() <= Date.now())
  assert.equal(error.first_seen_at.getTime(), Date.parse('1970-01-02T00:00:00Z'))
})

test('a payload is kept as it was sent', async () => {
  const to = await place()
  const text = '{ "message": "odd \\u0000 text", "extra": 1.50, "stacktrace": {"frames": []} }'
  assert.equal((await send(to, 'store', text)).status, 200)
  const { payload } = await rowOf<{ payload: string }>(
    world(),
    `select v.payload::text as payload from error_events v join errors e on e.id = v.error_id where e.project_id = $1`,
    [to.project.id],
  )
  assert.equal(payload, text)
})

test('compressed bodies are unpacked, whichever way they are packed', async () => {
  const to = await place()
  const text = JSON.stringify({ message: 'packed', event_id: 'a'.repeat(32) })
  const rows: [string | Buffer, Record<string, string>][] = [
    [gzipSync(text), { 'content-encoding': 'gzip' }],
    [deflateSync(text), { 'content-encoding': 'deflate' }],
    [deflateSync(text).toString('base64'), {}],
    [text, { 'content-encoding': 'identity' }],
  ]
  for (const [body, headers] of rows) {
    const answer = await send(to, 'store', body, headers)
    assert.deepEqual([answer.status, answer.body], [200, { id: 'a'.repeat(32) }], answer.text)
  }
  assert.equal((await errorsOf(to))[0]?.events, 4)
})

test('a body that unpacks to more than a megabyte is refused without being unpacked whole', async () => {
  const to = await place()
  const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024, 0x20))
  const answer = await send(to, 'store', bomb, { 'content-encoding': 'gzip' })
  assert.deepEqual([answer.status, answer.body], [400, { message: 'Failed to parse sentry request' }])
  assert.equal((await send(to, 'store', 'x'.repeat(1024 * 1024 + 1))).status, 413)
})

test('an event is read to 100 levels, and refused below', async () => {
  const to = await place()
  const deep = (levels: number): string =>
    `{"message":"deep","extra":${'{"a":'.repeat(levels - 2)}{}${'}'.repeat(levels - 2)}}`
  for (const [kind, head] of [
    ['store', ''],
    ['envelope', '{}\n{"type":"event"}\n'],
  ] as const) {
    assert.equal((await send(to, kind, head + deep(100))).status, 200, kind)
    const answer = await send(to, kind, head + deep(101))
    assert.deepEqual([answer.status, answer.body], [400, { message: 'Failed to parse sentry request' }], kind)
  }
})

test('a body without an event is refused in the published words', async () => {
  const to = await place()
  const rows: [Kind, string, string][] = [
    ['store', '{', 'Failed to parse sentry request'],
    ['store', '', 'Failed to parse sentry request'],
    ['store', '{}', 'Unsupported sentry payload'],
    ['store', '{"message": {}}', 'Unsupported sentry payload'],
    ['envelope', 'no json', 'Failed to parse sentry request'],
    ['envelope', '{}\n{"type":"event"}\n[]', 'Unsupported sentry payload'],
    ['envelope', '{}\n{"type":"event","length":99}\n{}', 'Failed to parse sentry request'],
    ['envelope', `{}\n{"type":"event"}\n${'['.repeat(200)}`, 'Failed to parse sentry request'],
  ]
  for (const [kind, body, message] of rows) {
    const answer = await send(to, kind, body)
    assert.deepEqual([answer.status, answer.body], [400, { message }], body.slice(0, 40))
  }
  assert.deepEqual(await errorsOf(to), [])
})

test('sessions, transactions and attachments are taken and not kept', async () => {
  const to = await place()
  const binary =
    '{}\n{"type":"attachment","length":5}\n\n\n{}\n\n{"type":"transaction"}\n{}\n{"type":"session"}\n{}'
  const answer = await send(to, 'envelope', binary)
  assert.deepEqual([answer.status, answer.body], [200, {}])
  assert.deepEqual(await errorsOf(to), [])
})

test('a wrong key cannot be told from any other reason to collect nothing', async () => {
  const to = await place()
  const [inactive, external, unset, archived] = [await place(), await place(), await place(), await place()]
  const { db } = world().opened.instance
  await save(db, { project_id: inactive.project.id, active: false, integrated: true })
  await save(db, { project_id: external.project.id, active: true, integrated: false })
  await rowsOf(world(), 'delete from error_tracking_settings where project_id = $1', [unset.project.id])
  await rowsOf(world(), 'update projects set archived = true where id = $1', [archived.project.id])
  const asked: [object, number][] = []
  for (const one of [
    { ...to, key: 'glet_wrong' },
    { ...to, key: '' },
    { ...to, key: inactive.key },
    { ...to, project: { ...to.project, id: 987_654_321 } },
    inactive,
    external,
    unset,
    archived,
  ])
    for (const kind of ['store', 'envelope'] as const) {
      let answer: Answered | undefined
      const sent = await world().statements(async () => {
        answer = await send(one, kind, envelope({ message: 'x' }))
      })
      asked.push([answer ? visible(answer) : {}, sent.length])
    }
  const [first] = asked
  assert.ok(first)
  assert.deepEqual([first[1], (first[0] as { status: number }).status], [1, 404])
  for (const one of asked) assert.deepEqual(one, asked[0])
})

test('a resolved error that happens again is unresolved, an ignored one stays ignored', async () => {
  const to = await place()
  const { db } = world().opened.instance
  for (const [status, after] of [
    ['resolved', 'unresolved'],
    ['ignored', 'ignored'],
  ] as const) {
    await send(to, 'store', JSON.stringify({ message: status }))
    const id = (await errorsOf(to)).find(({ name }) => name === status)?.id ?? 0
    await setStatus(db, to.project.id, id, status)
    await send(to, 'store', JSON.stringify({ message: status }))
    assert.equal((await errorsOf(to)).find((one) => one.id === id)?.status, after)
  }
})

test("a sender's own fingerprint groups, and {{ default }} in it stands for ours", async () => {
  const to = await place()
  for (const fingerprint of [
    ['mine'],
    ['mine'],
    ['{{ default }}', 'a'],
    ['{{default}}', 'b'],
    ['{{ default }}'],
  ])
    await send(to, 'store', JSON.stringify(thrown('x', { fingerprint })))
  await send(to, 'store', JSON.stringify(thrown('y')))
  assert.deepEqual(
    (await errorsOf(to)).map(({ events }) => events).toSorted((a, b) => a - b),
    [1, 1, 2, 2],
  )
})

test('messages that differ in numbers alone are one error', async () => {
  const to = await place()
  for (const message of ['user 1 of 0xff', 'user 22 of 0x1', 'user one'])
    await send(to, 'store', JSON.stringify({ message }))
  assert.deepEqual(
    (await errorsOf(to)).map(({ events }) => events).toSorted((a, b) => a - b),
    [1, 2],
  )
})

test('past the quota of a minute a project is answered 429 with the seconds to wait, and others are not', async () => {
  const [flood, other] = [await place(), await place()]
  const { db, settings } = world().opened.instance
  await setSetting(db, 'error_tracking_events_per_minute', 2)
  await settings.reload()
  try {
    const statuses: number[] = []
    for (let n = 0; n < 3; n++) statuses.push((await send(flood, 'store', '{"message":"x"}')).status)
    assert.deepEqual(statuses, [200, 200, 429])
    const refused = await send(flood, 'store', '{"message":"x"}')
    assert.match(String(refused.headers['retry-after']), /^[1-5]?\d$|^60$/)
    assert.equal((await send(other, 'store', '{"message":"x"}')).status, 200)
    assert.equal((await errorsOf(flood))[0]?.events, 2)
  } finally {
    await setSetting(db, 'error_tracking_events_per_minute', 6_000)
    await settings.reload()
  }
})

test('of three hundred events at once all that were answered 200 are counted, by few statements', async () => {
  const to = await place()
  const answers: Answered[] = []
  const sent = await world().statements(async () => {
    for (let n = 0; n < 10; n++)
      answers.push(
        ...(await Promise.all(Array.from({ length: 30 }, () => send(to, 'store', '{"message":"x"}')))),
      )
  })
  assert.ok(answers.every(({ status }) => status === 200))
  assert.equal((await errorsOf(to))[0]?.events, 300)
  // A look-up for each, and a few for all of them.
  assert.ok(sent.length < 300 + 100, String(sent.length))
})

test('past a thousand events of an error all are counted, and those with one digest in ten are kept', async () => {
  const to = await place()
  await send(to, 'store', '{"message":"x"}')
  await rowsOf(world(), 'update errors set events = 1000 where project_id = $1', [to.project.id])
  const ids = Array.from({ length: 60 }, (_, n) => md5(`event ${n}`))
  const events = ids.map((event_id) => ({ event_id, message: 'x' }))
  assert.equal((await send(to, 'envelope', envelope(...events))).status, 200)
  assert.equal((await errorsOf(to))[0]?.events, 1060)
  const kept = await rowsOf<{ event_id: string }>(
    world(),
    `select event_id from error_events v join errors e on e.id = v.error_id
      where e.project_id = $1 and event_id = any($2)`,
    [to.project.id, ids],
  )
  const sampled = ids.filter((id) => md5(id) < '1a')
  assert.ok(sampled.length > 0 && sampled.length < 20)
  assert.deepEqual(kept.map(({ event_id }) => event_id).toSorted(ascending), sampled.toSorted(ascending))
})

test('events older than the retention are dropped with their day, and their errors stay', async () => {
  const to = await place()
  await send(to, 'store', '{"message":"x"}')
  const { db, settings } = world().opened.instance
  const inMonths = new Date(Date.now() + 40 * 86_400_000)
  assert.deepEqual(await dropOldPartitions(db, settings, new Date()), [])
  assert.equal((await dropOldPartitions(db, settings, inMonths)).length, 1)
  assert.deepEqual(await rowsOf(world(), 'select event_id from error_events'), [])
  assert.equal((await errorsOf(to))[0]?.events, 1)
})
