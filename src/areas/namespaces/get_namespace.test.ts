import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { shareGroup, shareProject } from '../../../test/support/shares.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

const ABSENT = '{"message":"404 Namespace Not Found"}'

async function read(group: { id: number }, as: Someone, of = world): Promise<Record<string, unknown>> {
  const answer = await of.get(`/namespaces/${group.id}`, as)
  assert.equal(answer.status, 200, answer.text)
  return answer.body as Record<string, unknown>
}
async function sees(group: { id: number }, as: Someone): Promise<boolean> {
  const { status, text } = await world.get(`/namespaces/${group.id}`, as)
  if (status === 200) return true
  assert.deepEqual([status, text], [404, ABSENT])
  return false
}

test('a namespace is read by id and by path, in any letter case, alike', async () => {
  const parent = await world.make.group({ path: 'Crown' })
  const group = await world.make.group({ parent, path: 'Jewel.s', name: 'Jewels' })
  const guest = await world.make.memberOf('guest', { group })
  for (const ref of [group.id, 'Crown%2FJewel.s', 'crown%2Fjewel.s']) {
    const answer = await world.get(`/namespaces/${ref}`, guest)
    assert.deepEqual(
      [answer.status, answer.body],
      [
        200,
        {
          id: group.id,
          name: 'Jewels',
          path: 'Jewel.s',
          kind: 'group',
          full_path: 'Crown/Jewel.s',
          parent_id: parent.id,
          avatar_url: null,
          web_url: 'https://guild.example/groups/Crown/Jewel.s',
          billable_members_count: 0,
        },
      ],
    )
  }
})

test('one’s personal namespace is read by the user name, and an administrator reads anybody’s', async () => {
  const user = await world.make.user({ name: 'Grace' })
  for (const as of [user, await world.make.admin()]) {
    const { body, status } = await world.get(`/namespaces/${user.username}`, as)
    assert.deepEqual(
      [status, { ...(body as object), id: 0 }],
      [
        200,
        {
          id: 0,
          name: 'Grace',
          path: user.username,
          kind: 'user',
          full_path: user.username,
          parent_id: null,
          avatar_url: null,
          web_url: `https://guild.example/${user.username}`,
          billable_members_count: 1,
          plan: 'default',
          end_date: null,
          trial_ends_on: null,
          trial: false,
        },
      ],
    )
  }
})

test('without a token even a public namespace and an unknown one are refused alike', async () => {
  const group = await world.make.group({ visibility: 'public' })
  for (const ref of [group.id, 987_654_321]) {
    const answer = await world.get(`/namespaces/${ref}`)
    assert.deepEqual([answer.status, answer.body], [401, { message: '401 Unauthorized' }])
  }
})

test('foreign and absent namespaces have the same answer, byte for byte', async () => {
  const user = await world.make.user()
  const open = await world.make.group({ visibility: 'public' })
  const other = await world.make.user()
  const project = await world.make.project({ group: open, visibility: 'public' })
  const refs = [
    open.id,
    open.full_path,
    other.username,
    encodeURIComponent(project.full_path),
    987_654_321,
    'no-such-namespace',
    '99999999999999999999',
  ]
  const strip = ({
    status,
    text,
    headers: { date: _d, 'x-request-id': _id, ...headers },
  }: Answered): string => JSON.stringify({ status, text, headers })
  const answers = []
  for (const ref of refs) answers.push(await world.get(`/namespaces/${ref}`, user))
  assert.equal(new Set(answers.map(strip)).size, 1)
  assert.deepEqual([answers[0]?.status, answers[0]?.text], [404, ABSENT])
})

test('every role on a group or above it shows its namespace, one below or on a project does not', async () => {
  const top = await world.make.group()
  const group = await world.make.group({ parent: top })
  const roles = [
    'minimal_access',
    'guest',
    'planner',
    'reporter',
    'developer',
    'maintainer',
    'owner',
  ] as const
  for (const role of roles) {
    const user = await world.make.memberOf(role, { group })
    assert.deepEqual([await sees(group, user), await sees(top, user)], [true, false], role)
  }
  assert.equal(await sees(group, await world.make.memberOf('guest', { group: top })), true)
  assert.equal(await sees(group, await world.make.memberOf('minimal_access', { group: top })), false)
  const project = await world.make.project({ group })
  assert.equal(await sees(group, await world.make.memberOf('owner', { project })), false)
  assert.equal(await sees(group, await world.make.admin()), true)
})

test('a share shows the namespace while it lasts, an expired role and no access do not', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const invited = await world.make.group()
  const user = await world.make.memberOf('guest', { group: invited })
  await shareGroup(world, group, { invited, role: 'guest' })
  assert.equal(await sees(group, user), true)
  await world.make.sql(
    `update group_group_links set expires_at = '2001-01-01' where shared_group_id = ${group.id}`,
  )
  assert.equal(await sees(group, user), false)
  const former = await world.make.user()
  await world.make.member(former, 'owner', { group }, '2001-01-01')
  assert.equal(await sees(group, former), false)
  const denied = await world.make.memberOf('no_access', { group })
  assert.equal(await sees(group, denied), false)
})

test('owners and administrators are shown the plan and the counts of everything below', async () => {
  const group = await world.make.group()
  const below = await world.make.group({ parent: group })
  const owner = await world.make.memberOf('owner', { group })
  await world.make.member(owner, 'developer', { group: below })
  await world.make.memberOf('guest', { group: below })
  const first = await world.make.project({ group })
  const second = await world.make.project({ group: below })
  await world.make.memberOf('developer', { project: second })
  await world.make
    .sql(`update projects set repository_size = case id when ${first.id} then 4000000000 else 5 end
                         where id in (${first.id}, ${second.id})`)
  for (const as of [owner, await world.make.admin()])
    assert.deepEqual(await read(group, as), {
      id: group.id,
      name: group.name,
      path: group.path,
      kind: 'group',
      full_path: group.full_path,
      parent_id: null,
      avatar_url: null,
      web_url: `https://guild.example/groups/${group.full_path}`,
      billable_members_count: 2,
      plan: 'default',
      end_date: null,
      trial_ends_on: null,
      trial: false,
      members_count_with_descendants: 2,
      root_repository_size: 4_000_000_005,
      projects_count: 2,
    })
  const { projects_count, root_repository_size } = await read(below, owner)
  assert.deepEqual([projects_count, root_repository_size], [1, 5])
})

/** A group with a member of every kind, of which some need a seat. */
async function crowded(of: World): Promise<Namespace> {
  const group = await of.make.group()
  const below = await of.make.group({ parent: group })
  const project = await of.make.project({ group: below })
  const invited = await of.make.group()
  for (const role of ['no_access', 'minimal_access', 'guest', 'planner', 'owner'] as const)
    await of.make.memberOf(role, { group })
  const twice = await of.make.memberOf('developer', { group: below })
  await of.make.member(twice, 'reporter', { project })
  await of.make.memberOf('maintainer', { project })
  await of.make.memberOf('developer', { group: invited })
  await shareGroup(of, below, { invited, role: 'reporter' })
  const helping = await of.make.group()
  await of.make.memberOf('owner', { group: helping })
  await shareProject(of, project, { invited: helping, role: 'reporter' })
  const former = await of.make.user()
  await of.make.member(former, 'owner', { group }, '2001-01-01')
  const blocked = await of.make.memberOf('owner', { group })
  const bot = await of.make.memberOf('owner', { group })
  await of.make.sql(`update users set state = 'blocked' where id = ${blocked.id};
                     update users set user_type = 'project_bot' where id = ${bot.id}`)
  return group
}

test('a seat is counted once for each person below, guests needing none on the highest licence', async () => {
  const group = await crowded(world)
  const body = await read(group, await world.make.admin())
  assert.equal(
    body['billable_members_count'],
    6,
    'planner, owner, developer, project maintainer, a member of the invited group, one of the project’s',
  )
  for (const tier of ['premium', 'free']) {
    const other = await openWorld({ env: { GUILDHALL_TIER: tier } })
    const same = await read(await crowded(other), await other.make.admin(), other)
    assert.equal(same['billable_members_count'], 7, `the guest too on ${tier}`)
    await other.close()
  }
})

test('seats in use are told on the hosted offering only, and are zero without a paid plan', async () => {
  const hosted = await openWorld({ env: { GUILDHALL_OFFERING: 'hosted' } })
  const group = await hosted.make.group()
  const member = await hosted.make.memberOf('developer', { group })
  const seats = async (): Promise<unknown[]> => {
    const body = await read(group, member, hosted)
    return [body['max_seats_used'], body['max_seats_used_changed_at'], body['seats_in_use']]
  }
  assert.deepEqual(await seats(), [0, null, 0])
  await hosted.make.sql(`update namespaces set plan = 'premium' where id = ${group.id}`)
  assert.deepEqual(await seats(), [1, null, 1])
  await hosted.close()
  const here = await read(await world.make.group(), await world.make.admin())
  for (const name of ['max_seats_used', 'max_seats_used_changed_at', 'seats_in_use'])
    assert.ok(!Object.hasOwn(here, name))
})

test('a namespace takes no other method', async () => {
  const group = await world.make.group()
  const admin = await world.make.admin()
  for (const path of [`/namespaces/${group.id}`, `/namespaces/${group.path}/exists`])
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      const answer = await world.call(method, path, { as: admin })
      assert.deepEqual([answer.status, answer.body], [405, { error: '405 Not Allowed' }])
      assert.equal(answer.headers.allow, 'GET, HEAD')
    }
  assert.equal((await read(group, admin))['id'], group.id, 'it is still there')
})
