import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { pick, shareGroup, shareProject } from '../../../test/support/shares.ts'
import { openWorld, type World } from '../../../test/support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

const VISIBILITIES = ['private', 'internal', 'public'] as const
const YESTERDAY = '2001-01-01'

/** The paths of the list `query` gives, and that its total says the same. */
async function paths(query: Record<string, string>, as?: Someone): Promise<unknown[]> {
  const answer = await world.call('GET', '/groups', { as, query })
  const found = pick(answer, 'full_path')
  assert.equal(answer.headers['x-total'], String(found.length), 'the total counts what the caller may see')
  return found
}

async function threeGroups(word: string): Promise<Namespace[]> {
  const groups: Namespace[] = []
  for (const visibility of VISIBILITIES)
    groups.push(await world.make.group({ path: `${word}-${visibility}`, visibility }))
  return groups
}

async function external(): Promise<Someone> {
  const user = await world.make.user()
  await world.make.sql(`update users set external = true where id = ${user.id}`)
  return user
}

test('without a token only public groups are listed, whatever is asked', async () => {
  await threeGroups('open')
  for (const query of [{}, { all_available: 'true' }, { all_available: 'false' }, { min_access_level: '10' }])
    assert.deepEqual(await paths({ search: 'open-', ...query }), ['open-public'])
  assert.deepEqual(await paths({ search: 'open-', visibility: 'private' }), [])
  assert.deepEqual(await paths({ search: 'open-', visibility: 'internal' }), [])
})

test('without a token nothing is owned', async () => {
  await threeGroups('unowned')
  assert.deepEqual(await paths({ search: 'unowned-', owned: 'true' }), [])
})

test('a signed-in user lists the groups they belong to, and with all_available the open ones too', async () => {
  await threeGroups('plain')
  const user = await world.make.user()
  assert.deepEqual(await paths({ search: 'plain-' }, user), [])
  assert.deepEqual(await paths({ search: 'plain-', all_available: 'false' }, user), [])
  const open = ['plain-internal', 'plain-public']
  assert.deepEqual(await paths({ search: 'plain-', all_available: 'true' }, user), open)
})

test('an external user sees the public groups and those they belong to', async () => {
  const [hidden, internal] = await threeGroups('outer')
  const user = await external()
  assert.deepEqual(await paths({ search: 'outer-', all_available: 'true' }, user), ['outer-public'])
  await world.make.member(user, 'guest', { group: internal as Namespace })
  const now = ['outer-internal', 'outer-public']
  assert.deepEqual(await paths({ search: 'outer-', all_available: 'true' }, user), now)
  await world.make.member(user, 'guest', { group: hidden as Namespace })
  assert.deepEqual(await paths({ search: 'outer-' }, user), ['outer-internal', 'outer-private'])
})

test('an administrator lists every group, or with all_available=false those they belong to', async () => {
  const [hidden] = await threeGroups('realm')
  const admin = await world.make.admin()
  const all = ['realm-internal', 'realm-private', 'realm-public']
  assert.deepEqual(await paths({ search: 'realm-' }, admin), all)
  assert.deepEqual(await paths({ search: 'realm-', all_available: 'true' }, admin), all)
  assert.deepEqual(await paths({ search: 'realm-', all_available: 'false' }, admin), [])
  await world.make.member(admin, 'guest', { group: hidden as Namespace })
  assert.deepEqual(await paths({ search: 'realm-', all_available: 'false' }, admin), ['realm-private'])
})

test('members of a group belong to its subgroups, and members of a subgroup to the groups above', async () => {
  const top = await world.make.group({ path: 'family' })
  const middle = await world.make.group({ parent: top, path: 'child' })
  await world.make.group({ parent: middle, path: 'grandchild' })
  await world.make.group({ parent: top, path: 'sibling' })
  const above = await world.make.memberOf('guest', { group: top })
  assert.deepEqual(await paths({ order_by: 'id' }, above), [
    'family',
    'family/child',
    'family/child/grandchild',
    'family/sibling',
  ])
  const inside = await world.make.memberOf('guest', { group: middle })
  assert.deepEqual(await paths({ order_by: 'id' }, inside), [
    'family',
    'family/child',
    'family/child/grandchild',
  ])
})

test('a member of a project belongs to the groups around it, and to nothing beside', async () => {
  const top = await world.make.group({ path: 'hull' })
  const deck = await world.make.group({ parent: top, path: 'deck' })
  await world.make.group({ parent: deck, path: 'cabin' })
  await world.make.group({ parent: top, path: 'hold' })
  const project = await world.make.project({ group: deck })
  const user = await world.make.memberOf('guest', { project })
  assert.deepEqual(await paths({ order_by: 'id' }, user), ['hull', 'hull/deck'])
})

test('members of an invited group belong to the group that is shared with it, and below', async () => {
  const shared = await world.make.group({ path: 'host' })
  await world.make.group({ parent: shared, path: 'room' })
  const invited = await world.make.group({ path: 'visitors' })
  await shareGroup(world, shared, { invited, role: 'reporter' })
  const user = await world.make.memberOf('guest', { group: invited })
  assert.deepEqual(await paths({ order_by: 'id' }, user), ['host', 'host/room', 'visitors'])
})

test('members of the parent of an invited group belong to the shared group as well', async () => {
  const shared = await world.make.group({ path: 'inn' })
  const parent = await world.make.group({ path: 'guild' })
  const invited = await world.make.group({ parent, path: 'chapter' })
  await shareGroup(world, shared, { invited, role: 'reporter' })
  const user = await world.make.memberOf('developer', { group: parent })
  assert.deepEqual(await paths({ order_by: 'id' }, user), ['inn', 'guild', 'guild/chapter'])
})

test('members of a group that a project is shared with belong to the groups around that project', async () => {
  const group = await world.make.group({ path: 'lender' })
  const project = await world.make.project({ group })
  const invited = await world.make.group({ path: 'lent-to' })
  await shareProject(world, project, { invited, role: 'guest' })
  const user = await world.make.memberOf('guest', { group: invited })
  assert.deepEqual(await paths({ order_by: 'id' }, user), ['lender', 'lent-to'])
})

test('a membership or a share that has expired lists nothing', async () => {
  const group = await world.make.group({ path: 'gone-group' })
  const invited = await world.make.group({ path: 'gone-invited' })
  const lender = await world.make.group({ path: 'gone-lender' })
  await shareGroup(world, group, { invited, role: 'guest', expires: YESTERDAY })
  await shareProject(world, await world.make.project({ group: lender }), {
    invited,
    role: 'guest',
    expires: YESTERDAY,
  })
  const user = await world.make.memberOf('guest', { group: invited })
  assert.deepEqual(await paths({}, user), ['gone-invited'])
  const former = await world.make.user()
  await world.make.member(former, 'owner', { group }, YESTERDAY)
  const query = [
    {},
    { owned: 'true' },
    { min_access_level: '10' },
    { search: 'gone-', all_available: 'true' },
  ]
  for (const one of query) assert.deepEqual(await paths(one as Record<string, string>, former), [])
})

test('no access on a group takes it and what is below away, whatever else gives it', async () => {
  const top = await world.make.group({ path: 'castle' })
  const keep = await world.make.group({ parent: top, path: 'keep' })
  const vault = await world.make.group({ parent: keep, path: 'vault' })
  const user = await world.make.memberOf('owner', { group: top })
  await world.make.member(user, 'no_access', { group: keep })
  await world.make.member(user, 'owner', { group: vault })
  const queries = [
    {},
    { all_available: 'true', search: 'castle' },
    { owned: 'true' },
    { min_access_level: '50' },
  ]
  for (const query of queries)
    assert.deepEqual(await paths(query as Record<string, string>, user), ['castle'])
  assert.deepEqual(await paths({ min_access_level: '0' }, user), ['castle'])
})

test('minimal access shows a group and nothing below it', async () => {
  const top = await world.make.group({ path: 'lobby' })
  await world.make.group({ parent: top, path: 'office' })
  const user = await world.make.memberOf('minimal_access', { group: top })
  assert.deepEqual(await paths({}, user), ['lobby'])
  assert.deepEqual(await paths({ min_access_level: '5' }, user), ['lobby'])
  assert.deepEqual(await paths({ min_access_level: '10' }, user), [])
})

test('owned lists the groups the caller was made an owner of, and no others', async () => {
  const user = await world.make.user()
  const mine = await world.make.group({ path: 'own-mine' })
  await world.make.group({ parent: mine, path: 'below' })
  const kept = await world.make.group({ path: 'own-kept' })
  const shared = await world.make.group({ path: 'own-shared' })
  await shareGroup(world, shared, { invited: mine, role: 'owner' })
  await world.make.member(user, 'owner', { group: mine })
  await world.make.member(user, 'maintainer', { group: kept })
  assert.deepEqual(await paths({ owned: 'true' }, user), ['own-mine'])
  assert.deepEqual(await paths({ owned: 'true', all_available: 'true' }, user), ['own-mine'])
  assert.deepEqual(await paths({ owned: 'true', min_access_level: '10' }, user), ['own-mine'])
  assert.deepEqual(await paths({ owned: 'true' }, await world.make.admin()), [])
})

test('min_access_level lists the groups on which the caller holds at least that level', async () => {
  const user = await world.make.user()
  const roles = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const
  const levels = [10, 15, 20, 30, 40, 50]
  for (const [i, role] of roles.entries()) {
    const group = await world.make.group({ path: `level-${i}` })
    await world.make.member(user, role, { group })
  }
  await world.make.group({ path: 'level-open', visibility: 'public' })
  for (const [i, level] of levels.entries()) {
    const expected = roles.map((_, n) => `level-${n}`).slice(i)
    assert.deepEqual(await paths({ min_access_level: String(level) }, user), expected)
  }
  const both = { min_access_level: '50', all_available: 'true' }
  assert.deepEqual(await paths(both, user), ['level-5'])
  assert.deepEqual(await paths({ min_access_level: '50' }, await world.make.admin()), [])
})

test('min_access_level counts a level held above, or through a share, and the lower of member and share', async () => {
  const user = await world.make.user()
  const top = await world.make.group({ path: 'reach' })
  await world.make.group({ parent: top, path: 'below' })
  await world.make.member(user, 'maintainer', { group: top })
  const shared = await world.make.group({ path: 'reached' })
  await shareGroup(world, shared, { invited: top, role: 'developer' })
  assert.deepEqual(await paths({ min_access_level: '40', order_by: 'id' }, user), ['reach', 'reach/below'])
  const least = await paths({ min_access_level: '30', order_by: 'id' }, user)
  assert.deepEqual(least, ['reach', 'reach/below', 'reached'])
})

test('personal namespaces are no groups', async () => {
  const user = await world.make.user()
  assert.deepEqual(await paths({ search: user.username, all_available: 'true' }, user), [])
  assert.deepEqual(await paths({ search: user.username }, await world.make.admin()), [])
})

test('an administrator acting as a user lists what that user lists', async () => {
  await threeGroups('sudo')
  const user = await world.make.memberOf('guest', { group: await world.make.group({ path: 'sudo-own' }) })
  const answer = await world.call('GET', '/groups', {
    as: await world.make.admin(),
    headers: { sudo: user.username },
    query: { search: 'sudo-' },
  })
  assert.deepEqual(pick(answer, 'path'), ['sudo-own'])
})
