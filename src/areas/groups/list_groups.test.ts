import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Namespace } from '../../db/schema/tables.ts'
import { groupItem } from '../../../test/support/group_bodies.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { guests, listOf, pick } from '../../../test/support/shares.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

const list = (query: Record<string, string | string[]>, as?: Someone): Promise<Answered> =>
  world.call('GET', '/groups', { as, query })

const guestOf = guests(() => world)

test('a list of groups carries every field of an item and no secret, for whoever asks', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const admin = await world.make.admin()
  const owner = await world.make.memberOf('owner', { group })
  for (const as of [undefined, owner, admin]) {
    const answer = await list({ search: group.path }, as)
    assert.deepEqual(answer.body, [groupItem(group)])
    assert.equal(answer.headers['content-type'], 'application/json')
  }
})

test('an item of the list shows what was set on the group', async () => {
  const group = await world.make.group({ visibility: 'public' })
  await world.make
    .sql(`update namespaces set description = 'All of it', avatar_url = 'https://a.example/a.png',
    marked_for_deletion_on = '2031-02-03', settings = '{"emails_enabled": false, "default_branch": "trunk",
    "mentions_disabled": true, "auto_devops_enabled": true, "file_template_project_id": 7}' where id = ${group.id}`)
  assert.deepEqual(listOf(await list({ search: group.path })), [
    {
      ...groupItem(group),
      description: 'All of it',
      avatar_url: 'https://a.example/a.png',
      marked_for_deletion_on: '2031-02-03',
      emails_enabled: false,
      emails_disabled: true,
      default_branch: 'trunk',
      mentions_disabled: true,
      auto_devops_enabled: true,
      file_template_project_id: 7,
    },
  ])
})

test('groups are ordered by name, ascending, unless asked otherwise', async () => {
  const { user } = await guestOf({ name: 'bravo' }, { name: 'alpha' }, { name: 'charlie' })
  assert.deepEqual(pick(await list({}, user), 'name'), ['alpha', 'bravo', 'charlie'])
  assert.deepEqual(pick(await list({ order_by: 'name' }, user), 'name'), ['alpha', 'bravo', 'charlie'])
  assert.deepEqual(pick(await list({ sort: 'asc' }, user), 'name'), ['alpha', 'bravo', 'charlie'])
  assert.deepEqual(pick(await list({ sort: 'desc' }, user), 'name'), ['charlie', 'bravo', 'alpha'])
})

test('groups can be ordered by path and by id, both ways', async () => {
  const { user, groups } = await guestOf({ path: 'order-m' }, { path: 'order-k' }, { path: 'order-l' })
  const ids = groups.map(({ id }) => id)
  assert.deepEqual(pick(await list({ order_by: 'path' }, user), 'path'), ['order-k', 'order-l', 'order-m'])
  assert.deepEqual(pick(await list({ order_by: 'path', sort: 'desc' }, user), 'path'), [
    'order-m',
    'order-l',
    'order-k',
  ])
  assert.deepEqual(pick(await list({ order_by: 'id' }, user), 'id'), ids)
  assert.deepEqual(pick(await list({ order_by: 'id', sort: 'desc' }, user), 'id'), ids.toReversed())
})

test('groups of one name stand oldest first, whichever way names run', async () => {
  const { user, groups } = await guestOf(
    { name: 'twin' },
    { name: 'twin' },
    { name: 'twin' },
    { name: 'unit' },
  )
  const [first, second, third, other] = groups.map(({ id }) => id)
  assert.deepEqual(pick(await list({}, user), 'id'), [first, second, third, other])
  assert.deepEqual(pick(await list({ sort: 'desc' }, user), 'id'), [other, first, second, third])
})

test('groups of one path in different parents stand oldest first, whichever way paths run', async () => {
  const { user, groups } = await guestOf({ path: 'parent-b' }, { path: 'parent-a' })
  const subgroups: Namespace[] = []
  for (const parent of groups) subgroups.push(await world.make.group({ parent, path: 'same' }))
  const [first, second] = subgroups.map(({ id }) => id)
  assert.deepEqual(pick(await list({ order_by: 'path' }, user), 'id').slice(2), [first, second])
  assert.deepEqual(pick(await list({ order_by: 'path', sort: 'desc' }, user), 'id').slice(0, 2), [
    first,
    second,
  ])
})

test('with similarity better matches come first, and without a search names decide', async () => {
  const { user, groups } = await guestOf(
    { path: 'has-kiln-inside' },
    { path: 'kilns' },
    { path: 'kiln' },
    { path: 'quarry' },
  )
  const [, , kiln] = groups
  await world.make.group({ parent: kiln as Namespace, path: 'oven' })
  const found = await list({ order_by: 'similarity', search: 'kiln' }, user)
  assert.deepEqual(pick(found, 'full_path'), ['kiln', 'kilns', 'has-kiln-inside', 'kiln/oven'])
  assert.equal(found.headers['x-total'], '4')
  const all = await list({ order_by: 'similarity', sort: 'desc' }, user)
  assert.deepEqual(pick(all, 'name'), ['has-kiln-inside', 'kiln', 'kilns', 'oven', 'quarry'])
})

test('of equally similar groups a top-level one stands before a subgroup', async () => {
  const { user, groups } = await guestOf({ path: 'harbour' })
  await world.make.group({ parent: groups[0] as Namespace, path: 'crane' })
  const { groups: later } = await guestOf({ path: 'crane' })
  await world.make.member(user, 'guest', { group: later[0] as Namespace })
  const found = await list({ order_by: 'similarity', search: 'crane' }, user)
  assert.deepEqual(pick(found, 'full_path'), ['crane', 'harbour/crane'])
})

test('a token that will not do is refused, though the list is public', async () => {
  const answer = await world.call('GET', '/groups', { headers: { 'private-token': 'nobody-has-this' } })
  assert.equal(answer.status, 401)
  assert.deepEqual(answer.body, { message: '401 Unauthorized' })
})

test('a token that may only read the interface lists groups, one that may only read users does not', async () => {
  const { user, groups } = await guestOf({ name: 'readable' })
  const reading = await world.make.token(user, { scopes: ['read_api'] })
  const answer = await list({}, { ...user, token: reading })
  assert.deepEqual(pick(answer, 'id'), [groups[0]?.id])
  const other = await world.make.token(user, { scopes: ['read_user'] })
  const refused = await list({}, { ...user, token: other })
  assert.equal(refused.status, 403)
  assert.deepEqual(refused.body, {
    error: 'insufficient_scope',
    error_description: 'The request requires higher privileges than provided by the access token.',
    scope: 'api read_api',
  })
})

test('a group list takes no other method', async () => {
  for (const method of ['PUT', 'PATCH', 'DELETE'] as const) {
    const answer = await world.call(method, '/groups', { as: await world.make.admin() })
    assert.equal(answer.status, 405)
    assert.deepEqual(answer.body, { error: '405 Not Allowed' })
    assert.equal(answer.headers.allow, 'GET, HEAD, POST')
  }
  const head = await world.call('HEAD', '/groups')
  assert.equal(head.status, 200)
  assert.equal(head.text, '')
})
