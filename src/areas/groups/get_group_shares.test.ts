import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { shareGroup, shareProject } from '../../../test/support/shares.ts'
import { openWorld, type World } from '../../../test/support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

const YESTERDAY = '2001-01-01'

const external = async (): Promise<Someone> => {
  const user = await world.make.user()
  await world.make.sql(`update users set external = true where id = ${user.id}`)
  return user
}

const sharesOf = async (group: Namespace, as?: Someone): Promise<unknown[]> => {
  const answer = await world.get(`/groups/${group.id}`, as)
  assert.equal(answer.status, 200, answer.text)
  return (answer.body as { shared_with_groups: { group_id: number }[] }).shared_with_groups
}

test('shares of a group name the invited group, its level and its last day', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const parent = await world.make.group({ path: 'order', visibility: 'public' })
  const invited = await world.make.group({ parent, path: 'lodge', name: 'Lodge', visibility: 'public' })
  const other = await world.make.group({ path: 'others', name: 'Others', visibility: 'public' })
  await shareGroup(world, group, { invited, role: 'developer', expires: '2999-12-31' })
  await shareGroup(world, group, { invited: other, role: 'guest' })
  assert.deepEqual(await sharesOf(group), [
    {
      group_id: invited.id,
      group_name: 'Lodge',
      group_full_path: 'order/lodge',
      group_access_level: 30,
      expires_at: '2999-12-31',
    },
    {
      group_id: other.id,
      group_name: 'Others',
      group_full_path: 'others',
      group_access_level: 10,
      expires_at: null,
    },
  ])
})

/** Callers, and the names of the invited groups they are shown: each is named by its visibility. */
async function shareViewers(hidden: Namespace): Promise<[string, Someone | undefined, string[]][]> {
  const above = await world.make.group()
  await world.make
    .sql(`update namespaces set parent_id = ${above.id}, full_path = '${above.full_path}/hidden',
    traversal_ids = array[${above.id}, ${hidden.id}] where id = ${hidden.id}`)
  const below = await world.make.group({ parent: { ...hidden, traversal_ids: [above.id, hidden.id] } })
  const project = await world.make.project({ group: hidden })
  const denied = await world.make.memberOf('owner', { group: above })
  await world.make.member(denied, 'no_access', { group: hidden })
  const former = await world.make.user()
  await world.make.member(former, 'owner', { group: hidden }, YESTERDAY)
  const open = ['internal', 'public']
  const all = ['internal', 'private', 'public']
  return [
    ['nobody', undefined, ['public']],
    ['an external user', await external(), ['public']],
    ['a user', await world.make.user(), open],
    ['a former member', former, open],
    ['somebody denied', denied, open],
    ['a member', await world.make.memberOf('guest', { group: hidden }), all],
    ['one with minimal access', await world.make.memberOf('minimal_access', { group: hidden }), all],
    ['one with minimal access above', await world.make.memberOf('minimal_access', { group: above }), open],
    ['a member above', await world.make.memberOf('guest', { group: above }), all],
    ['a member below', await world.make.memberOf('guest', { group: below }), all],
    ['a member of a project inside', await world.make.memberOf('guest', { project }), all],
    ['an administrator', await world.make.admin(), all],
  ]
}

test('shares of groups and of projects show only invited groups that the caller may see', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const project = await world.make.project({ group, visibility: 'public' })
  let hidden: Namespace | undefined
  for (const visibility of ['internal', 'private', 'public'] as const) {
    const invited = await world.make.group({ name: visibility, visibility })
    await shareGroup(world, group, { invited, role: 'guest' })
    await shareProject(world, project, { invited, role: 'guest' })
    if (visibility === 'private') hidden = invited
  }
  const name = (share: unknown): string => (share as { group_name: string }).group_name
  for (const [who, as, expected] of await shareViewers(hidden as Namespace)) {
    assert.deepEqual((await sharesOf(group, as)).map(name), expected, `${who}: the group’s shares`)
    const [item] = (await world.get(`/groups/${group.id}/projects`, as)).body as {
      shared_with_groups: unknown[]
    }[]
    assert.deepEqual(item?.shared_with_groups.map(name), expected, `${who}: the project’s shares`)
  }
})

test('a share that has expired is shown no more', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const project = await world.make.project({ group, visibility: 'public' })
  const invited = await world.make.group({ visibility: 'public' })
  await shareGroup(world, group, { invited, role: 'guest', expires: YESTERDAY })
  await shareProject(world, project, { invited, role: 'guest', expires: YESTERDAY })
  const answer = await world.get(`/groups/${group.id}`, await world.make.admin())
  const body = answer.body as { shared_with_groups: unknown; projects: { shared_with_groups: unknown }[] }
  assert.deepEqual(body.shared_with_groups, [])
  assert.deepEqual(body.projects[0]?.shared_with_groups, [])
})
