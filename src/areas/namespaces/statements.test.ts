import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { listOf } from '../../../test/support/shares.ts'
import { openWorld, type World } from '../../../test/support/world.ts'

// How often the database is asked. Figures are statements, not time.

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

/** How many statements one request costs when the use of the caller's token is noted already. */
async function cost(path: string, as: Someone): Promise<number> {
  await world.make.sql('update personal_access_tokens set last_used_at = now()')
  const sent = await world.statements(async () => assert.equal((await world.get(path, as)).status, 200))
  return sent.length
}

const crowd = (parent: { id: number; full_path: string }): Promise<void> =>
  world.make.sql(`
    insert into namespaces (id, kind, parent_id, name, path, full_name, full_path, traversal_ids)
    overriding system value
    select ${parent.id}0000 + i, 'group', ${parent.id}, 'crowd-' || i, 'crowd-' || i, 'crowd-' || i,
           '${parent.full_path}/crowd-' || i, array[${parent.id}, ${parent.id}0000 + i] from generate_series(1, 100) i`)

test('a list of namespaces costs two statements, for one row and for a hundred', async () => {
  const group = await world.make.group()
  const owner = await world.make.memberOf('owner', { group })
  const [path, all] = [`/namespaces?per_page=100&owned_only=true`, `/namespaces?per_page=100&search=crowd-`]
  const admin = await world.make.admin()
  assert.equal(listOf(await world.get(path, owner)).length, 2)
  const few = [await cost(path, owner), await cost(all, admin)]
  await crowd(group)
  assert.equal(listOf(await world.get(path, owner)).length, 100)
  assert.equal(listOf(await world.get(all, admin)).length, 100)
  assert.deepEqual(few, [2, 2])
  assert.deepEqual([await cost(path, owner), await cost(all, admin)], few)
})

test('a namespace is found together with its caller, and counted in one statement more', async () => {
  const group = await world.make.group()
  const owner = await world.make.memberOf('owner', { group })
  assert.equal(await cost(`/namespaces/${group.id}`, owner), 2)
  await crowd(group)
  assert.equal(await cost(`/namespaces/${group.id}`, owner), 2)
  const sent = await world.statements(() => world.get('/namespaces/987654321', owner))
  assert.equal(sent.length, 1)
})

test('a free path costs one statement beside signing in, a taken one two, however many are tried', async () => {
  const parent = await world.make.group()
  const user = await world.make.user()
  const path = `/namespaces/x/exists?parent_id=${parent.id}`
  assert.equal(await cost(path, user), 2)
  for (const name of ['x', 'x1', 'x2', 'x3', 'x4']) {
    await world.make.group({ parent, path: name })
    assert.equal(await cost(path, user), 3)
  }
})

test('filters go together in every combination', async () => {
  const callers = [await world.make.user(), await world.make.admin()]
  for (const as of callers)
    for (const owned of [true, false])
      for (const top of [true, false])
        for (const search of ['', 'a']) {
          const path = `/namespaces?owned_only=${owned}&top_level_only=${top}&search=${search}`
          assert.equal((await world.get(path, as)).status, 200, path)
        }
})
