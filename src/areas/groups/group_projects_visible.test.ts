import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { pick, shareGroup, shareProject } from '../../../test/support/shares.ts'
import { openWorld, type World } from '../../../test/support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

const LEVELS = ['private', 'internal', 'public'] as const
const ALL = ['private', 'internal', 'public']
const OPEN = ['internal', 'public']

/** The names of a group's projects, oldest first, and that the total says the same. */
async function names(group: Namespace, as?: Someone, query: Record<string, string> = {}): Promise<unknown[]> {
  const answer = await world.call('GET', `/groups/${group.id}/projects`, {
    as,
    query: { order_by: 'id', sort: 'asc', ...query },
  })
  const found = pick(answer, 'name')
  assert.equal(answer.headers['x-total'], String(found.length), 'the total counts what the caller may see')
  return found
}

/** A public group with one project of each visibility, named by it. */
async function three(parent?: Namespace): Promise<{ group: Namespace; projects: Project[] }> {
  const group = await world.make.group({ visibility: 'public', ...(parent && { parent }) })
  const projects: Project[] = []
  for (const visibility of LEVELS)
    projects.push(await world.make.project({ group, name: visibility, visibility }))
  return { group, projects }
}
const external = async (): Promise<Someone> => {
  const user = await world.make.user()
  await world.make.sql(`update users set external = true where id = ${user.id}`)
  return user
}

test('callers without membership see the projects of a group by visibility', async () => {
  const { group } = await three()
  assert.deepEqual(await names(group), ['public'])
  assert.deepEqual(await names(group, await world.make.user()), OPEN)
  assert.deepEqual(await names(group, await external()), ['public'])
  assert.deepEqual(await names(group, await world.make.admin()), ALL)
})

test('a role on the group, above it or through a share shows private projects; one below it does not', async () => {
  const top = await world.make.group({ visibility: 'public' })
  const { group } = await three(top)
  const below = await world.make.group({ parent: group })
  const invited = await world.make.group()
  await shareGroup(world, group, { invited, role: 'guest' })
  for (const role of ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const)
    assert.deepEqual(await names(group, await world.make.memberOf(role, { group })), ALL)
  assert.deepEqual(await names(group, await world.make.memberOf('guest', { group: top })), ALL)
  assert.deepEqual(await names(group, await world.make.memberOf('guest', { group: invited })), ALL)
  assert.deepEqual(await names(group, await world.make.memberOf('owner', { group: below })), OPEN)
})

test('a role on one project shows that one, and a share of one shows it to the group’s members', async () => {
  const { group, projects } = await three()
  const hidden = projects[0] as Project
  await world.make.project({ group, name: 'another', visibility: 'private' })
  assert.deepEqual(await names(group, await world.make.memberOf('guest', { project: hidden })), ALL)
  const invited = await world.make.group()
  const user = await world.make.memberOf('guest', { group: invited })
  assert.deepEqual(await names(group, user), OPEN)
  await shareProject(world, hidden, { invited, role: 'guest' })
  assert.deepEqual(await names(group, user), ALL)
  assert.deepEqual(await names(invited, user), ['private'])
})

test('expired roles, minimal access and no access show no private project', async () => {
  const { group, projects } = await three()
  const former = await world.make.user()
  await world.make.member(former, 'owner', { group }, '2001-01-01')
  assert.deepEqual(await names(group, former), OPEN)
  assert.deepEqual(await names(group, await world.make.memberOf('minimal_access', { group })), OPEN)
  const denied = await world.make.memberOf('owner', { group })
  await world.make.member(denied, 'no_access', { project: projects[0] as Project })
  assert.deepEqual(await names(group, denied), OPEN)
  const outside = await world.make.memberOf('no_access', { group })
  await world.make.member(outside, 'owner', { project: projects[0] as Project })
  assert.deepEqual(await names(group, outside), OPEN)
})

test('private projects of private subgroups are listed to those who may see them only', async () => {
  const top = await world.make.group({ visibility: 'public' })
  const below = await world.make.group({ parent: top })
  const project = await world.make.project({ group: below, name: 'inside' })
  const query = { include_subgroups: 'true' }
  assert.deepEqual(await names(top, undefined, query), [])
  assert.deepEqual(await names(top, await world.make.user(), query), [])
  assert.deepEqual(await names(top, await world.make.memberOf('guest', { group: top }), query), ['inside'])
  assert.deepEqual(await names(top, await world.make.memberOf('guest', { project }), query), ['inside'])
})

test('the projects of groups above are listed to those who may see them only', async () => {
  const top = await world.make.group({ visibility: 'public' })
  const below = await world.make.group({ parent: top, visibility: 'public' })
  await world.make.project({ group: top, name: 'above' })
  const query = { include_ancestor_groups: 'true' }
  assert.deepEqual(await names(below, await world.make.memberOf('owner', { group: below }), query), [])
  assert.deepEqual(await names(below, await world.make.memberOf('guest', { group: top }), query), ['above'])
})

test('owned keeps the projects on which the caller is an owner', async () => {
  const { group, projects } = await three()
  const query = { owned: 'true' }
  assert.deepEqual(await names(group, await world.make.memberOf('owner', { group }), query), ALL)
  for (const role of ['maintainer', 'guest'] as const)
    assert.deepEqual(await names(group, await world.make.memberOf(role, { group }), query), [])
  const one = await world.make.memberOf('owner', { project: projects[2] as Project })
  assert.deepEqual(await names(group, one, query), ['public'])
  assert.deepEqual(await names(group, one, { ...query, min_access_level: '10' }), ['public'])
  assert.deepEqual(await names(group, undefined, query), [])
  assert.deepEqual(await names(group, await world.make.admin(), query), [])
})

test('min_access_level keeps the projects on which the caller holds at least that level', async () => {
  const { group, projects } = await three()
  const user = await world.make.memberOf('reporter', { group })
  await world.make.member(user, 'maintainer', { project: projects[1] as Project })
  for (const [level, expected] of [
    ['10', ALL],
    ['20', ALL],
    ['30', ['internal']],
    ['40', ['internal']],
    ['50', []],
  ] as const)
    assert.deepEqual(await names(group, user, { min_access_level: level }), expected, level)
  assert.deepEqual(await names(group, await world.make.user(), { min_access_level: '10' }), [])
  assert.deepEqual(await names(group, await world.make.admin(), { min_access_level: '10' }), [])
})

test('min_access_level says nothing about who has no token', async () => {
  const { group } = await three()
  assert.deepEqual(await names(group, undefined, { min_access_level: '10' }), ['public'])
})

test('starred keeps the projects the caller starred', async () => {
  const { group, projects } = await three()
  const user = await world.make.user()
  const other = await world.make.user()
  await world.make.sql(`insert into project_stars (user_id, project_id) values
    (${user.id}, ${projects[0]?.id}), (${user.id}, ${projects[2]?.id}), (${other.id}, ${projects[1]?.id})`)
  assert.deepEqual(await names(group, user, { starred: 'true' }), ['public'])
  await world.make.member(user, 'guest', { group })
  assert.deepEqual(await names(group, user, { starred: 'true' }), ['private', 'public'])
  assert.deepEqual(await names(group, other, { starred: 'true' }), ['internal'])
  assert.deepEqual(await names(group, undefined, { starred: 'true' }), [])
})
