import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import type { Project } from '../db/schema/tables.ts'
import { relayBatch } from '../hooks/relay.ts'
import type { Someone } from '../../test/support/makers.ts'
import { sharedWorld } from '../../test/support/stand.ts'
import { until } from '../../test/support/program.ts'

const world = sharedWorld()

let project: Project
let owner: Someone
let guest: Someone
let outsider: Someone
let host: string
before(async () => {
  const { make } = world()
  project = await make.project({ visibility: 'private' })
  ;[owner, guest] = [await make.memberOf('owner', { project }), await make.memberOf('guest', { project })]
  outsider = await make.user()
  host = await world().app.listen({ port: 0, host: '127.0.0.1' })
  await relay()
})

const relay = async (): Promise<void> => {
  while ((await relayBatch(world().opened.instance.db)) > 0);
}

interface Reading {
  /** The frames that came so far: id and action. */
  readonly frames: () => [string, string][]
  readonly isOver: () => boolean
  readonly close: () => void
}
async function read(as: Someone, cursor?: string): Promise<Reading> {
  const abort = new AbortController()
  const answer = await fetch(`${host}/-/events`, {
    headers: { 'private-token': as.token, ...(cursor !== undefined && { 'last-event-id': cursor }) },
    signal: abort.signal,
  })
  assert.deepEqual(
    [answer.status, answer.headers.get('content-type')],
    [200, 'text/event-stream; charset=utf-8'],
  )
  let text = ''
  let isOver = false
  void (async () => {
    for await (const chunk of answer.body ?? []) text += Buffer.from(chunk).toString()
  })()
    .catch(() => {})
    .finally(() => (isOver = true))
  return {
    frames: () =>
      [...text.matchAll(/^id: (\d+)\nevent: (\w+)\ndata: (.*)\n\n/gm)].map(([, id = '', kind, data = '']) => [
        id,
        `${kind} ${(JSON.parse(data) as { action: string }).action}`,
      ]),
    isOver: () => isOver,
    close: () => abort.abort(),
  }
}
const open = async (body: object): Promise<number> => {
  const answer = await world().call('POST', `/projects/${project.id}/issues`, { as: owner, body })
  assert.equal(answer.status, 201, answer.text)
  await relay()
  return (answer.body as { iid: number }).iid
}
const words = (stream: Reading): string[] => stream.frames().map(([, word]) => word)

test('streams show what each caller sees at that moment, and nothing after a role is gone', async () => {
  const streams = await Promise.all([owner, guest, outsider].map((who) => read(who)))
  const [all, some, none] = streams as [Reading, Reading, Reading]
  const iid = await open({ title: 'hush', confidential: true })
  await open({ title: 'open' })
  await until('both came', () => words(all).length === 2)
  await until('the open one came', () => words(some).length === 1)
  await world().make.sql(`delete from members where user_id = ${guest.id}`)
  await world().call('PUT', `/projects/${project.id}/issues/${iid}`, {
    as: owner,
    body: { confidential: false },
  })
  await relay()
  await until('the change came', () => words(all).length === 3)
  assert.deepEqual(words(all), ['issue open', 'issue open', 'issue update'])
  await world().make.member(guest, 'guest', { project })
  await open({ title: 'again' })
  await until('members see again', () => words(some).length === 3)
  assert.deepEqual(words(some), ['issue open', 'member user_add_to_team', 'issue open'])
  assert.deepEqual(words(none), [])
  for (const stream of streams) stream.close()
})

test('a stream goes on behind its cursor, and misses nothing', async () => {
  const first = await read(owner)
  await open({ title: 'one' })
  await until('it came', () => words(first).length === 1)
  first.close()
  const [cursor = ''] = first.frames()[0] ?? []
  await open({ title: 'two' })
  await open({ title: 'three' })
  const second = await read(owner, cursor)
  await until('the rest came', () => words(second).length === 2)
  const ids = second.frames().map(([id]) => Number(id))
  assert.ok(ids[0] !== undefined && ids[1] !== undefined && Number(cursor) < ids[0] && ids[0] < ids[1])
  second.close()
})

test('a stream ends with its token, and takes a sign-in with the right scope', async () => {
  const id = await world().make.token(owner, { scopes: ['read_api'] })
  const stream = await read({ ...owner, token: id })
  await world().make.sql(
    `update personal_access_tokens set revoked = true where user_id = ${owner.id} and not scopes @> '{api}'`,
  )
  await open({ title: 'unseen' })
  await until('it is over', () => stream.isOver())
  assert.deepEqual(words(stream), [])
  const token = await world().make.token(owner, { scopes: ['read_user'] })
  const status = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(`${host}/-/events`, { headers })).status
  assert.equal(await status({}), 401)
  assert.equal(await status({ 'private-token': token }), 403)
  assert.equal(await status({ 'private-token': owner.token, 'last-event-id': 'x' }), 400)
})

test('a user has at most ten streams open', async () => {
  const streams = await Promise.all(Array.from({ length: 10 }, () => read(outsider)))
  const refused = await fetch(`${host}/-/events`, { headers: { 'private-token': outsider.token } })
  assert.equal(refused.status, 429)
  for (const stream of streams) stream.close()
})
