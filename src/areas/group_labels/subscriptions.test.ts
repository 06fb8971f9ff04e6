import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeLabel } from '../../../test/support/label_makers.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

type Verb = 'subscribe' | 'unsubscribe'
const call = (group: { id: number }, label: string | number, verb: Verb, as: Someone): Promise<Answered> =>
  world.call('POST', `/groups/${group.id}/labels/${encodeURIComponent(label)}/${verb}`, { as })
const subscribers = async (label: { id: number }): Promise<unknown[]> =>
  (
    await rowsOf<{ user_id: number }>(
      world,
      'select user_id from label_subscriptions where label_id = $1 order by user_id',
      [label.id],
    )
  ).map((row) => row.user_id)

test('a subscription is made once and ended once, by id or by title', async () => {
  const group = await world.make.group()
  const as = await world.make.memberOf('guest', { group })
  const label = await makeLabel(world, { group }, { title: 'a & b: c.d' })
  const shown = (await world.get(`/groups/${group.id}/labels/${label.id}`, as)).body as object
  for (const ref of [label.id, label.title]) {
    const made = await call(group, ref, 'subscribe', as)
    assert.deepEqual([made.status, made.body], [201, { ...shown, subscribed: true }])
    assert.deepEqual(await subscribers(label), [as.id])
    const again = await call(group, ref, 'subscribe', as)
    assert.deepEqual([again.status, again.text, again.headers['content-type']], [304, '', undefined])
    assert.deepEqual(await subscribers(label), [as.id])
    const ended = await call(group, ref, 'unsubscribe', as)
    assert.deepEqual([ended.status, ended.body], [201, { ...shown, subscribed: false }])
    assert.deepEqual(await subscribers(label), [])
    const nothing = await call(group, ref, 'unsubscribe', as)
    assert.deepEqual([nothing.status, nothing.text, nothing.headers['content-type']], [304, '', undefined])
  }
})

test('each caller sees their own subscription and no other', async () => {
  const group = await world.make.group()
  const label = await makeLabel(world, { group })
  const [one, two] = [
    await world.make.memberOf('reporter', { group }),
    await world.make.memberOf('reporter', { group }),
  ]
  await call(group, label.id, 'subscribe', one)
  for (const [as, subscribed] of [
    [one, true],
    [two, false],
  ] as const) {
    const answers = [
      await world.get(`/groups/${group.id}/labels/${label.id}`, as),
      await world.call('PUT', `/groups/${group.id}/labels/${label.id}`, { as, body: { color: 'red' } }),
    ]
    const list = await world.get(`/groups/${group.id}/labels`, as)
    for (const body of [...answers.map((answer) => answer.body), (list.body as unknown[])[0]])
      assert.equal((body as { subscribed: boolean }).subscribed, subscribed)
  }
  assert.equal((await call(group, label.id, 'unsubscribe', two)).status, 304)
  assert.deepEqual(await subscribers(label), [one.id])
})

test('a label of a group above can be subscribed to, one of a group below or beside cannot', async () => {
  const parent = await world.make.group({ visibility: 'public' })
  const group = await world.make.group({ parent, visibility: 'public' })
  const below = await world.make.group({ parent: group, visibility: 'public' })
  const project = await world.make.project({ group, visibility: 'public' })
  const as = await world.make.user()
  const above = await makeLabel(world, { group: parent })
  assert.equal((await call(group, above.title, 'subscribe', as)).status, 201)
  assert.deepEqual(await subscribers(above), [as.id])
  for (const home of [{ group: below }, { project }, { group: await world.make.group() }]) {
    const label = await makeLabel(world, home)
    for (const verb of ['subscribe', 'unsubscribe'] as const)
      for (const ref of [label.id, label.title]) {
        const answer = await call(group, ref, verb, as)
        assert.deepEqual([answer.status, answer.body], [404, { message: '404 Label Not Found' }])
      }
    assert.deepEqual(await subscribers(label), [])
  }
})

test('thirty subscriptions at once are one, and so are thirty endings', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const label = await makeLabel(world, { group })
  const as = await world.make.user()
  for (const [verb, left] of [
    ['subscribe', [as.id]],
    ['unsubscribe', []],
  ] as const) {
    const answers = await Promise.all(Array.from({ length: 30 }, () => call(group, label.id, verb, as)))
    const count = (wanted: number): number => answers.filter(({ status }) => status === wanted).length
    assert.deepEqual([count(201), count(304)], [1, 29])
    assert.deepEqual(await subscribers(label), left)
  }
})
