import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Namespace } from '../../db/schema/tables.ts'
import { groupItem } from '../../../test/support/group_bodies.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { shareGroup } from '../../../test/support/shares.ts'
import { openWorld, type World } from '../../../test/support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

type Body = Record<string, unknown> & {
  projects?: Record<string, unknown>[]
  shared_projects?: Record<string, unknown>[]
  shared_with_groups: Record<string, unknown>[]
}
async function read(group: { id: number }, as?: Someone, query: Record<string, string> = {}): Promise<Body> {
  const answer = await world.call('GET', `/groups/${group.id}`, { as, query })
  assert.equal(answer.status, 200, answer.text)
  return answer.body as Body
}

const bodyOf = (group: Namespace): Record<string, unknown> => ({
  ...groupItem(group),
  shared_with_groups: [],
  prevent_sharing_groups_outside_hierarchy: false,
  projects: [],
  shared_projects: [],
  ip_restriction_ranges: null,
  math_rendering_limits_enabled: true,
  lock_math_rendering_limits_enabled: false,
  archived: false,
  shared_runners_minutes_limit: null,
  extra_shared_runners_minutes_limit: null,
  membership_lock: false,
  assistant_features_enabled: true,
  lock_assistant_features_enabled: false,
  assistant_availability: 'default_on',
  duo_features_enabled: true,
  lock_duo_features_enabled: false,
  duo_availability: 'default_on',
  experiment_features_enabled: false,
})

test('anybody reads a public group, by id and by path in any letter case', async () => {
  const group = await world.make.group({ path: 'Open-House', visibility: 'public' })
  for (const ref of [group.id, 'Open-House', 'open-house']) {
    const answer = await world.get(`/groups/${ref}`)
    assert.equal(answer.status, 200, answer.text)
    assert.deepEqual(answer.body, bodyOf(group))
    assert.equal(answer.headers['content-type'], 'application/json')
  }
})

test('a subgroup is read by its encoded full path and lacks what only top-level groups have', async () => {
  const top = await world.make.group({ path: 'upper', visibility: 'public' })
  const group = await world.make.group({ parent: top, path: 'lower.one', visibility: 'public' })
  const { prevent_sharing_groups_outside_hierarchy: _top, ...expected } = bodyOf(group)
  assert.deepEqual((await world.get('/groups/upper%2Flower.one')).body, expected)
  const unencoded = await world.get('/groups/upper/lower.one')
  assert.equal(unencoded.status, 404)
  assert.deepEqual(unencoded.body, { error: '404 Not Found' })
})

test('a group shows what was set on it', async () => {
  const group = await world.make.group({ visibility: 'public' })
  await world.make.sql(`update namespaces set description = 'Ours', repository_storage = 'cold', settings =
    '{"ip_restriction_ranges": "10.0.0.0/8", "membership_lock": true, "assistant_features_enabled": false,
      "assistant_availability": "never_on", "prevent_sharing_groups_outside_hierarchy": true, "archived": true}'
    where id = ${group.id}`)
  assert.deepEqual(await read(group), {
    ...bodyOf(group),
    description: 'Ours',
    repository_storage: 'cold',
    ip_restriction_ranges: '10.0.0.0/8',
    membership_lock: true,
    assistant_features_enabled: false,
    duo_features_enabled: false,
    assistant_availability: 'never_on',
    duo_availability: 'never_on',
    prevent_sharing_groups_outside_hierarchy: true,
    archived: true,
  })
})

test('owners and administrators are shown the runners token, and at the top the access protocol', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const secrets = { runners_token: 'GR1348941-runner', enabled_git_access_protocol: 'all' }
  const owner = await world.make.memberOf('owner', { group })
  for (const as of [owner, await world.make.admin()])
    assert.deepEqual(await read(group, as), { ...bodyOf(group), ...secrets })
  const below = await world.make.group({ parent: group, visibility: 'public' })
  const inherited = await read(below, owner)
  assert.equal(inherited['runners_token'], 'GR1348941-runner')
  assert.ok(!Object.hasOwn(inherited, 'enabled_git_access_protocol'))
})

test('an owner through a group share is an owner, one with a smaller share is not', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const invited = await world.make.group()
  const user = await world.make.memberOf('owner', { group: invited })
  await shareGroup(world, group, { invited, role: 'owner' })
  assert.equal((await read(group, user))['runners_token'], 'GR1348941-runner')
  await world.make.sql(`update group_group_links set group_access = 40 where shared_group_id = ${group.id}`)
  assert.ok(!Object.hasOwn(await read(group, user), 'runners_token'))
})

test('secrets of a group are shown to its owners only', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const subgroup = await world.make.group({ parent: group, visibility: 'public' })
  const former = await world.make.user()
  await world.make.member(former, 'owner', { group }, '2001-01-01')
  const others = [
    undefined,
    await world.make.user(),
    await world.make.memberOf('guest', { group }),
    await world.make.memberOf('maintainer', { group }),
    await world.make.memberOf('owner', { group: subgroup }),
    former,
  ]
  for (const as of others)
    for (const query of [{}, { with_projects: 'false' }]) {
      const body = await read(group, as, query)
      assert.ok(!Object.hasOwn(body, 'runners_token') && !Object.hasOwn(body, 'enabled_git_access_protocol'))
    }
})

test('with_projects=false leaves both lists of projects out, for everybody, and nothing else', async () => {
  const group = await world.make.group({ visibility: 'public' })
  await world.make.project({ group, visibility: 'public' })
  const { projects: _own, shared_projects: _shared, ...expected } = bodyOf(group)
  assert.deepEqual(await read(group, undefined, { with_projects: 'false' }), expected)
  assert.deepEqual(await read(group, await world.make.user(), { with_projects: 'false' }), expected)
  const owner = await world.make.memberOf('owner', { group })
  for (const as of [owner, await world.make.admin()])
    assert.deepEqual(await read(group, as, { with_projects: 'false' }), {
      ...expected,
      runners_token: 'GR1348941-runner',
      enabled_git_access_protocol: 'all',
    })
})

test('custom attributes of a group are shown to administrators who ask', async () => {
  const group = await world.make.group({ visibility: 'public' })
  await world.make.sql(`update namespaces set custom_attributes = '{"k": "v"}' where id = ${group.id}`)
  const admin = await world.make.admin()
  const asked = { with_custom_attributes: 'true' }
  assert.deepEqual((await read(group, admin, asked))['custom_attributes'], [{ key: 'k', value: 'v' }])
  const owner = await world.make.memberOf('owner', { group })
  for (const body of [
    await read(group, admin),
    await read(group, owner, asked),
    await read(group, undefined, asked),
  ])
    assert.ok(!Object.hasOwn(body, 'custom_attributes'))
})

test('a group takes no other method, and its parameters must be readable', async () => {
  const group = await world.make.group({ visibility: 'public' })
  for (const method of ['POST', 'PATCH'] as const) {
    const answer = await world.call(method, `/groups/${group.id}`, { as: await world.make.admin() })
    assert.equal(answer.status, 405)
    assert.deepEqual(answer.body, { error: '405 Not Allowed' })
    assert.equal(answer.headers.allow, 'DELETE, GET, HEAD, PUT')
  }
  const faults = { with_projects: 'maybe', with_custom_attributes: 'maybe' }
  const refused = await world.call('GET', `/groups/${group.id}`, { query: faults })
  assert.equal(refused.status, 400)
  assert.deepEqual(refused.body, { error: 'with_custom_attributes is invalid, with_projects is invalid' })
  assert.equal((await world.get(`/groups/${group.id}`)).status, 200, 'the group is still there')
})
