import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { expireIdempotencyKeys } from '../../src/http/idempotency/expiry.ts'
import { openCode, post, type Code } from '../support/code.ts'
import { gitText } from '../support/git_fixtures.ts'
import type { Someone } from '../support/makers.ts'
import { rowOf, rowsOf } from '../support/rows.ts'
import type { Answered } from '../support/world.ts'

let code: Code
before(async () => {
  code = await openCode()
})
after(() => code.world.close())

interface Sent {
  readonly method?: 'POST' | 'PUT' | 'DELETE'
  readonly path?: string
  readonly body?: object
  readonly as?: Someone
}
const REPLAYED = 'idempotent-replayed'
const label = (name: string): object => ({ name, color: '#ffffff' })
const send = (key: string, { method = 'POST', path = '/labels', body, as = code.maintainer }: Sent) =>
  code.world.call(method, `/projects/${code.project.id}${path}`, {
    as,
    headers: { 'idempotency-key': key },
    ...(body && { body }),
  })
const count = async (table: string, where: string): Promise<number> =>
  (await rowOf<{ n: number }>(code.world, `select count(*)::int as n from ${table} where ${where}`)).n
const shown = ({ status, text }: Answered): unknown[] => [status, text]

test('a repeated write gets the first answer and has no second effect', async () => {
  const first = await send('create', { body: label('one') })
  assert.deepEqual([first.status, first.headers[REPLAYED]], [201, undefined])
  const again = await send('create', { body: label('one') })
  assert.deepEqual(shown(again), shown(first))
  assert.equal(again.headers[REPLAYED], 'true')
  assert.equal(again.headers['content-type'], 'application/json')
  assert.equal(await count('labels', `project_id = ${code.project.id}`), 1)
})

test('a deleted record is 204 again', async () => {
  await send('doomed', { body: label('doomed') })
  for (const replayed of [undefined, 'true']) {
    const answer = await send('delete', { method: 'DELETE', path: '/labels/doomed' })
    assert.deepEqual([answer.status, answer.text, answer.headers[REPLAYED]], [204, '', replayed])
  }
})

test('a key used with another method, path or body is 422', async () => {
  await send('mine', { body: label('mine') })
  for (const other of [
    { body: label('other') },
    { path: '/milestones', body: label('mine') },
    { method: 'PUT', path: '/labels/mine', body: label('mine') },
    { path: '/labels?x=1', body: label('mine') },
  ] satisfies Sent[])
    assert.deepEqual(shown(await send('mine', other)), [
      422,
      '{"message":"Idempotency-Key was used with another request"}',
    ])
})

test('the same key of another caller is another key', async () => {
  const other = await code.world.make.memberOf('maintainer', { project: code.project })
  assert.equal((await send('shared', { path: '/issues', body: { title: 'a' } })).status, 201)
  const answer = await send('shared', { path: '/issues', body: { title: 'b' }, as: other })
  assert.deepEqual([answer.status, answer.headers[REPLAYED]], [201, undefined])
})

test('a key that is empty, too long or unprintable is 400', async () => {
  for (const key of ['', 'k'.repeat(256), 'é'])
    assert.deepEqual(shown(await send(key, { body: label('bad') })), [
      400,
      '{"error":"Idempotency-Key is invalid"}',
    ])
})

test('a refusal of the handler is kept, one of parameters and gates is not', async () => {
  await send('first-of-name', { body: label('taken') })
  const refused = await send('kept', { body: label('taken') })
  await send('free', { method: 'DELETE', path: '/labels/taken' })
  const again = await send('kept', { body: label('taken') })
  assert.deepEqual([refused.status, refused.headers[REPLAYED]], [409, undefined])
  assert.deepEqual(shown(again), shown(refused))
  assert.equal(again.headers[REPLAYED], 'true')
  const guest = await code.world.make.memberOf('guest', { project: code.project })
  assert.equal((await send('not-kept', { body: {} })).status, 400)
  assert.equal((await send('not-kept', { body: label('later'), as: guest })).status, 403)
  assert.equal((await send('not-kept', { body: label('later') })).status, 201)
})

test('twenty duplicates at once have one effect and one answer', async () => {
  const body = { title: 'once' }
  const all = await Promise.all(Array.from({ length: 20 }, () => send('crowd', { path: '/issues', body })))
  assert.equal(new Set(all.map(({ text }) => text)).size, 1)
  assert.deepEqual(
    all.map(({ status }) => status),
    all.map(() => 201),
  )
  assert.equal(await count('issues', `title = 'once'`), 1)
})

test('twenty duplicates of a commit make one commit', async () => {
  const before = Number(gitText(code.directory, ['rev-list', '--count', 'main']))
  const actions = [{ action: 'create', file_path: 'crowd', content: 'x' }]
  const body = { branch: 'main', commit_message: 'm', actions }
  const all = await Promise.all(
    Array.from({ length: 20 }, () => post(code, code.maintainer, body, { 'idempotency-key': 'commits' })),
  )
  assert.deepEqual([...new Set(all.map(({ status }) => status))], [201])
  assert.equal(new Set(all.map(({ text }) => text)).size, 1)
  assert.equal(Number(gitText(code.directory, ['rev-list', '--count', 'main'])), before + 1)
})

test('the key of a request under way elsewhere is 409 with Retry-After', async () => {
  const body = { body: 'a note' }
  const { body: issue } = await send('issue', { path: '/issues', body: { title: 'noted' } })
  const path = `/issues/${(issue as { iid: number }).iid}/notes`
  assert.equal((await send('note', { path, body })).status, 201)
  await rowsOf(
    code.world,
    `update idempotency_keys set answer = null, held_until = now() + interval '1 hour' where key = 'note'`,
  )
  const busy = await send('note', { path, body })
  assert.deepEqual([busy.status, busy.headers['retry-after']], [409, '1'])
  // The process is dead, and its row was committed.
  await rowsOf(code.world, `update idempotency_keys set held_until = now() where key = 'note'`)
  const lost = await send('note', { path, body })
  assert.equal(lost.status, 409)
  assert.match(lost.text, /may have taken effect/)
  assert.equal(await count('notes', `body = 'a note'`), 1)
})

test('a kept answer that shows a token is sealed', async () => {
  const admin = await code.world.make.admin()
  const create = (): Promise<Answered> =>
    code.world.call('POST', `/users/${code.developer.id}/personal_access_tokens`, {
      as: admin,
      headers: { 'idempotency-key': 'token' },
      body: { name: 'once', scopes: ['api'] },
    })
  const first = await create()
  assert.equal(first.status, 201, first.text)
  assert.deepEqual(shown(await create()), shown(first))
  const { token } = first.body as { token: string }
  const { answer } = await rowOf<{ answer: Buffer }>(
    code.world,
    `select answer from idempotency_keys where key = 'token'`,
  )
  assert.ok(token.length > 10 && !answer.includes(token))
})

test('a key that could not be kept undoes its effect', async () => {
  await code.world.make.sql(`alter table idempotency_keys add constraint broken check (key <> 'broken')`)
  const failed = await send('broken', { body: label('undone') })
  await code.world.make.sql('alter table idempotency_keys drop constraint broken')
  assert.equal(failed.status, 500)
  assert.equal(await count('labels', `title = 'undone'`), 0)
  assert.equal((await send('broken', { body: label('undone') })).status, 201)
})

test('a key is another one after 24 hours, and is removed', async () => {
  await send('old', { body: label('old') })
  await rowsOf(
    code.world,
    `update idempotency_keys set created_at = now() - interval '25 hours' where key = 'old'`,
  )
  assert.equal((await send('old', { body: label('new') })).status, 201)
  await rowsOf(code.world, `update idempotency_keys set created_at = now() - interval '25 hours'`)
  await expireIdempotencyKeys.run(code.world.opened.instance)
  assert.equal(await count('idempotency_keys', 'true'), 0)
})

test('a write without a key runs no statement more', async () => {
  const create = (name: string, key?: string): Promise<string[]> =>
    code.world.statements(() =>
      code.world.call('POST', `/projects/${code.project.id}/labels`, {
        as: code.maintainer,
        body: label(name),
        ...(key !== undefined && { headers: { 'idempotency-key': key } }),
      }),
    )
  await create('warm')
  const [plain, keyed] = [await create('plain'), await create('keyed', 'keyed')]
  assert.equal(keyed.length, plain.length + 2)
})
