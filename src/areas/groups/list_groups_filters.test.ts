import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { guests, pick } from '../../../test/support/shares.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

const list = (query: Record<string, string | string[]>, as?: Someone): Promise<Answered> =>
  world.call('GET', '/groups', { as, query })

const guestOf = guests(() => world)

test('search finds a part of the name or of the path, in any letter case', async () => {
  const { user } = await guestOf(
    { path: 'smith', name: 'The Anvil' },
    { path: 'anvilry', name: 'Forge' },
    { path: 'mill', name: 'Mill' },
  )
  assert.deepEqual(pick(await list({ search: 'ANVIL' }, user), 'path'), ['anvilry', 'smith'])
  assert.deepEqual(pick(await list({ search: '' }, user), 'path').length, 3)
  const none = await list({ search: 'nowhere' }, user)
  assert.deepEqual(none.body, [])
  assert.equal(none.headers['x-total'], '0')
})

test('search finds a subgroup by its full path', async () => {
  const { user, groups } = await guestOf({ path: 'valley' })
  const farm = await world.make.group({ parent: groups[0] as Namespace, path: 'farm' })
  assert.deepEqual(pick(await list({ search: 'valley/farm' }, user), 'id'), [farm.id])
})

test('signs that patterns know are only signs in a search', async () => {
  const { user } = await guestOf(
    { name: '100%' },
    { name: 'a_b' },
    { name: String.raw`c\d` },
    { name: 'axb' },
  )
  assert.deepEqual(pick(await list({ search: '00%' }, user), 'name'), ['100%'])
  assert.deepEqual(
    pick(await list({ search: '%' }, user), 'name'),
    [],
    'less than three letters: all of a name',
  )
  assert.deepEqual(pick(await list({ search: 'a_b' }, user), 'name'), ['a_b'])
  assert.deepEqual(pick(await list({ search: String.raw`c\d` }, user), 'name'), [String.raw`c\d`])
  assert.deepEqual(pick(await list({ search: "'" }, user), 'name'), [])
})

test('visibility keeps the groups of exactly that level', async () => {
  const { user } = await guestOf(
    { path: 'vis-private', visibility: 'private' },
    { path: 'vis-internal', visibility: 'internal' },
    { path: 'vis-public', visibility: 'public' },
  )
  for (const visibility of ['private', 'internal', 'public']) {
    const found = await list({ visibility }, user)
    assert.deepEqual(pick(found, 'path'), [`vis-${visibility}`])
    assert.equal(found.headers['x-total'], '1')
  }
})

test('skip_groups leaves groups out, as a list or separated by commas', async () => {
  const { user, groups } = await guestOf({ name: 'a' }, { name: 'b' }, { name: 'c' })
  const [a, b] = groups.map(({ id }) => String(id))
  const skips = [{ 'skip_groups[]': [a ?? '', b ?? ''] }, { skip_groups: `${a},${b}` }]
  for (const query of skips) {
    const found = await list(query, user)
    assert.deepEqual(pick(found, 'name'), ['c'])
    assert.equal(found.headers['x-total'], '1')
  }
  assert.deepEqual(pick(await list({ skip_groups: '' }, user), 'name'), ['a', 'b', 'c'])
})

test('top_level_only leaves subgroups out', async () => {
  const { user, groups } = await guestOf({ path: 'roof' })
  await world.make.group({ parent: groups[0] as Namespace })
  assert.equal(pick(await list({}, user), 'path').length, 2)
  assert.deepEqual(pick(await list({ top_level_only: 'true' }, user), 'path'), ['roof'])
  assert.equal(pick(await list({ top_level_only: 'false' }, user), 'path').length, 2)
})

test('marked_for_deletion_on keeps the groups marked for that day', async () => {
  const { user, groups } = await guestOf({ name: 'kept' }, { name: 'going' })
  await world.make.sql(
    `update namespaces set marked_for_deletion_on = '2031-05-06' where id = ${groups[1]?.id}`,
  )
  assert.deepEqual(pick(await list({ marked_for_deletion_on: '2031-05-06' }, user), 'name'), ['going'])
  assert.deepEqual(pick(await list({ marked_for_deletion_on: '2031-05-07' }, user), 'name'), [])
})

test('parameters that cannot be read are refused together, in the order of their declaration', async () => {
  const refusals: [Record<string, string>, string][] = [
    [{ visibility: 'secret' }, 'visibility does not have a valid value'],
    [{ order_by: 'created_at' }, 'order_by does not have a valid value'],
    [{ sort: 'up' }, 'sort does not have a valid value'],
    [{ min_access_level: 'guest' }, 'min_access_level is invalid'],
    [{ skip_groups: 'a,b' }, 'skip_groups is invalid'],
    [{ owned: 'maybe' }, 'owned is invalid'],
    [{ all_available: 'maybe' }, 'all_available is invalid'],
    [{ statistics: 'maybe' }, 'statistics is invalid'],
    [{ top_level_only: 'maybe' }, 'top_level_only is invalid'],
    [{ with_custom_attributes: 'maybe' }, 'with_custom_attributes is invalid'],
    [{ marked_for_deletion_on: '2031-02-30' }, 'marked_for_deletion_on is invalid'],
    [{ search: '\0' }, 'search is invalid'],
    [{ per_page: '0' }, 'per_page has a value not allowed'],
    [{ per_page: 'a' }, 'per_page is invalid'],
    [{ page: 'a' }, 'page is invalid'],
    [
      { sort: 'up', order_by: 'down', page: 'a' },
      'order_by does not have a valid value, sort does not have a valid value, page is invalid',
    ],
  ]
  for (const [query, error] of refusals) {
    const answer = await list(query)
    assert.equal(answer.status, 400, answer.text)
    assert.deepEqual(answer.body, { error })
  }
})

test('parameters nobody declared change nothing', async () => {
  const { user } = await guestOf({ name: 'one' })
  assert.deepEqual(pick(await list({ colour: 'red', sudo_not: '1' }, user), 'name'), ['one'])
})
