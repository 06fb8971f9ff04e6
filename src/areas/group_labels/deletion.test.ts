import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { makeIssue, makeLabel } from '../../../test/support/label_makers.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { openWorld, type Answered, type CallOptions, type World } from '../../../test/support/world.ts'
import type { Label, Namespace } from '../../db/schema/tables.ts'

let world: World
let as: Someone
let group: Namespace
before(async () => {
  world = await openWorld()
  as = await world.make.admin()
})
beforeEach(async () => {
  group = await world.make.group()
})
after(() => world.close())

const seen = ({ status, body }: Answered): unknown[] => [status, body]
const stored = (): Promise<Label[]> =>
  rowsOf<Label>(world, 'select * from labels where group_id = $1 order by id', [group.id])
const byPath = (label: Label | string, options: CallOptions = {}): Promise<Answered> =>
  world.call('DELETE', `/groups/${group.id}/labels/${typeof label === 'string' ? label : label.id}`, {
    as,
    ...options,
  })
const byName = ({ title }: Label, options: CallOptions = {}): Promise<Answered> =>
  world.call('DELETE', `/groups/${group.id}/labels`, { as, body: { name: title }, ...options })

test('a deleted label is gone with its links and subscriptions, and the issues stay', async () => {
  const project = await world.make.project({ group })
  for (const remove of [byPath, byName]) {
    const label = await makeLabel(world, { group })
    const kept = await makeLabel(world, { group })
    const issue = await makeIssue(world, project, { label })
    await world.call('POST', `/groups/${group.id}/labels/${label.id}/subscribe`, { as })
    const answer = await remove(label)
    assert.deepEqual([answer.status, answer.text, answer.headers['content-type']], [204, '', undefined])
    assert.deepEqual(await stored(), [kept])
    for (const table of ['label_links', 'label_subscriptions'])
      assert.deepEqual(await rowsOf(world, `select * from ${table} where label_id = $1`, [label.id]), [])
    assert.equal((await rowsOf(world, 'select from issues where id = $1', [issue.id])).length, 1)
    assert.deepEqual(seen(await remove(label)), [404, { message: '404 Label Not Found' }])
    await rowsOf(world, 'delete from labels where id = $1', [kept.id])
  }
})

test('a locked label is not removed', async () => {
  const label = await makeLabel(world, { group }, { locked: true })
  for (const remove of [byPath, byName])
    assert.deepEqual(seen(await remove(label)), [400, { message: 'Label is locked and was not removed' }])
  assert.deepEqual(await stored(), [label])
})

test('a label that changed since the stated time stays', async () => {
  const label = await makeLabel(world, { group })
  const changed = label.updated_at.getTime()
  const header = (time: number | string): CallOptions => ({
    headers: { 'if-unmodified-since': typeof time === 'string' ? time : new Date(time).toUTCString() },
  })
  for (const remove of [byPath, byName])
    for (const time of [changed - 1_000, 0, 'Mon, 01 Jan 2001 00:00:00 GMT'])
      assert.deepEqual(seen(await remove(label, header(time))), [412, { message: '412 Precondition Failed' }])
  assert.deepEqual(await stored(), [label])
  for (const remove of [byPath, byName])
    for (const time of [changed, changed + 60_000, 'not a date', '']) {
      const fresh = await makeLabel(world, { group })
      await rowsOf(world, 'update labels set updated_at = $2 where id = $1', [fresh.id, label.updated_at])
      assert.equal((await remove(fresh, header(time))).status, 204, String(time))
    }
  assert.deepEqual(await stored(), [label])
})

test('a change moves the time that the condition is held against', async () => {
  const label = await makeLabel(world, { group })
  await rowsOf(world, `update labels set updated_at = '2020-01-01T00:00:00Z' where id = $1`, [label.id])
  await world.call('PUT', `/groups/${group.id}/labels/${label.id}`, { as, body: { color: 'red' } })
  const answer = await byPath(label, { headers: { 'if-unmodified-since': 'Fri, 03 Jan 2020 00:00:00 GMT' } })
  assert.equal(answer.status, 412)
})

test('of thirty who delete the same label at once one does', async () => {
  const label = await makeLabel(world, { group })
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, i) => (i % 2 === 0 ? byPath(label) : byName(label))),
  )
  const count = (wanted: number): number => answers.filter(({ status }) => status === wanted).length
  assert.deepEqual([count(204), count(404)], [1, 29])
})

test('an empty JSON body is no hindrance', async () => {
  const label = await makeLabel(world, { group })
  const answer = await byPath(label, { headers: { 'content-type': 'application/json' } })
  assert.equal(answer.status, 204)
})

test('the deprecated deletion needs a name, and takes it for a title and never for an id', async () => {
  const label = await makeLabel(world, { group })
  const call = (body: object): Promise<Answered> =>
    world.call('DELETE', `/groups/${group.id}/labels`, { as, body })
  for (const body of [{}, { label_id: label.id }])
    assert.deepEqual(seen(await call(body)), [400, { error: 'name is missing' }])
  for (const name of ['', 'gone', String(label.id), label.title.toUpperCase()])
    assert.deepEqual(seen(await call({ name })), [404, { message: '404 Label Not Found' }])
  assert.deepEqual(await stored(), [label])
})

test('the deprecated change takes a name or an id, one of both', async () => {
  const first = await makeLabel(world, { group }, { title: 'one' })
  const digits = await makeLabel(world, { group }, { title: String(first.id) })
  const call = (body: object): Promise<Answered> =>
    world.call('PUT', `/groups/${group.id}/labels`, { as, body })
  const changed = async (body: object): Promise<unknown> => {
    const answer = await call(body)
    assert.equal(answer.status, 200, answer.text)
    return (answer.body as { id: number }).id
  }
  assert.equal(await changed({ name: 'one', description: 'a' }), first.id)
  assert.equal(await changed({ label_id: first.id, description: 'b' }), first.id)
  assert.equal(await changed({ label_id: String(first.id), description: 'c' }), first.id)
  assert.equal(await changed({ name: String(first.id), description: 'd' }), digits.id)
  assert.deepEqual(
    (await stored()).map(({ description }) => description),
    ['c', 'd'],
  )
  const both = 'label_id, name are mutually exclusive'
  const neither = 'label_id, name are missing, exactly one parameter must be provided'
  const nothing = 'new_name, color, description are missing, at least one parameter must be provided'
  const rows: [object, number, object][] = [
    [{ label_id: first.id, name: 'one', color: 'red' }, 400, { error: both }],
    [{ color: 'red' }, 400, { error: neither }],
    [{ name: 'one' }, 400, { error: nothing }],
    [{ label_id: 'one', color: 'red' }, 400, { error: 'label_id is invalid' }],
    [{ name: 'gone', color: 'red' }, 404, { message: '404 Label Not Found' }],
    [{ label_id: 0, color: 'red' }, 404, { message: '404 Label Not Found' }],
    [{ name: 'one', new_name: String(first.id) }, 400, { message: { title: ['has already been taken'] } }],
  ]
  for (const [body, status, expected] of rows) assert.deepEqual(seen(await call(body)), [status, expected])
  const twice = await call({})
  assert.equal(twice.status, 400)
  for (const text of [neither, nothing]) assert.ok((twice.body as { error: string }).error.includes(text))
})
