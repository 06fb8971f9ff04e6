import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { pick, shareGroup, shareProject } from '../../../test/support/shares.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

const ABSENT = '{"message":"404 Group Not Found"}'
const YESTERDAY = '2001-01-01'

/** The two operations that begin with a group: it is there for both or for neither. */
async function sees(group: { id: number }, as?: Someone): Promise<boolean> {
  const answers = [
    await world.get(`/groups/${group.id}`, as),
    await world.get(`/groups/${group.id}/projects`, as),
  ]
  const statuses = new Set(answers.map(({ status }) => status))
  assert.equal(statuses.size, 1, 'both operations agree')
  if (statuses.has(200)) return true
  for (const { status, text } of answers) assert.deepEqual([status, text], [404, ABSENT])
  return false
}

const external = async (): Promise<Someone> => {
  const user = await world.make.user()
  await world.make.sql(`update users set external = true where id = ${user.id}`)
  return user
}

test('callers without membership see groups by visibility', async () => {
  const viewers: [string, Someone | undefined, Visibility[]][] = [
    ['nobody', undefined, ['public']],
    ['a user', await world.make.user(), ['public', 'internal']],
    ['an external user', await external(), ['public']],
    ['an administrator', await world.make.admin(), ['public', 'internal', 'private']],
  ]
  for (const visibility of ['public', 'internal', 'private'] as const) {
    const group = await world.make.group({ visibility })
    for (const [who, as, open] of viewers)
      assert.equal(await sees(group, as), open.includes(visibility), `${who}, ${visibility}`)
  }
})

interface Place {
  readonly top: Namespace
  readonly group: Namespace
  readonly below: Namespace
}
async function place(): Promise<Place> {
  const top = await world.make.group()
  const group = await world.make.group({ parent: top })
  return { top, group, below: await world.make.group({ parent: group }) }
}

test('every role on a private group shows it, and so does one on a group above or below', async () => {
  const { top, group, below } = await place()
  for (const role of ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const)
    for (const at of [top, group, below]) {
      const user = await world.make.memberOf(role, { group: at })
      assert.equal(await sees(group, user), true, `${role} of ${at.full_path}`)
    }
  const sibling = await world.make.group({ parent: top })
  assert.equal(await sees(sibling, await world.make.memberOf('owner', { group })), false)
})

test('an external member sees the private group', async () => {
  const { group } = await place()
  const user = await external()
  await world.make.member(user, 'guest', { group })
  assert.equal(await sees(group, user), true)
})

test('a member of a project sees the private groups around it', async () => {
  const { top, group, below } = await place()
  const user = await world.make.memberOf('guest', { project: await world.make.project({ group }) })
  assert.deepEqual(
    [await sees(top, user), await sees(group, user), await sees(below, user)],
    [true, true, false],
  )
})

test('a member of an invited group sees what the group is shared with, below it and above it', async () => {
  const { top, group, below } = await place()
  const invited = await world.make.group()
  await shareGroup(world, group, { invited, role: 'guest' })
  const user = await world.make.memberOf('owner', { group: invited })
  assert.deepEqual(
    [await sees(top, user), await sees(group, user), await sees(below, user)],
    [true, true, true],
  )
  const outside = await world.make.memberOf('minimal_access', { group: invited })
  assert.equal(await sees(group, outside), false, 'minimal access reaches no share')
})

test('a member of the group a project is shared with sees the groups around that project', async () => {
  const { top, group } = await place()
  const invited = await world.make.group()
  await shareProject(world, await world.make.project({ group }), { invited, role: 'guest' })
  const user = await world.make.memberOf('guest', { group: invited })
  assert.deepEqual([await sees(top, user), await sees(group, user)], [true, true])
})

test('an expired membership, group share or project share gives no access', async () => {
  const { group } = await place()
  const invited = await world.make.group()
  const project = await world.make.project({ group })
  await shareGroup(world, group, { invited, role: 'owner', expires: YESTERDAY })
  await shareProject(world, project, { invited, role: 'owner', expires: YESTERDAY })
  assert.equal(await sees(group, await world.make.memberOf('owner', { group: invited })), false)
  for (const at of [{ group }, { project }]) {
    const user = await world.make.user()
    await world.make.member(user, 'owner', at, YESTERDAY)
    assert.equal(await sees(group, user), false)
    await world.make.member(user, 'owner', at, '2999-12-31')
    assert.equal(await sees(group, user), true)
  }
})

test('no access denies a group whatever else gives it, but not what anybody may see', async () => {
  const { top, group, below } = await place()
  const user = await world.make.memberOf('owner', { group: top })
  await world.make.member(user, 'no_access', { group })
  await world.make.member(user, 'owner', { group: below })
  await world.make.member(user, 'owner', { project: await world.make.project({ group: below }) })
  assert.deepEqual(
    [await sees(top, user), await sees(group, user), await sees(below, user)],
    [true, false, false],
  )
  await world.make.sql(`update namespaces set visibility = 'internal' where id = ${group.id}`)
  assert.equal(await sees(group, user), true)
})

test('a grant below a denied group shows nothing above it, nor does one on a denied project', async () => {
  const { top, group, below } = await place()
  const user = await world.make.user()
  await world.make.member(user, 'no_access', { group })
  await world.make.member(user, 'owner', { group: below })
  const other = await world.make.group()
  const invited = await world.make.group()
  const project = await world.make.project({ group: other })
  await shareProject(world, project, { invited, role: 'developer' })
  await world.make.member(user, 'owner', { group: invited })
  assert.equal(await sees(other, user), true)
  await world.make.member(user, 'no_access', { project })
  for (const hidden of [top, group, below, other]) assert.equal(await sees(hidden, user), false)
  const listed = pick(await world.get('/groups', user), 'id')
  assert.deepEqual(listed, [invited.id])
})

test('no access inside an invited group takes away what it is shared, and nothing else', async () => {
  const { group } = await place()
  const inviting = await world.make.group()
  const invited = await world.make.group({ parent: inviting })
  await shareGroup(world, group, { invited, role: 'owner' })
  const user = await world.make.memberOf('owner', { group: inviting })
  assert.equal(await sees(group, user), true)
  await world.make.member(user, 'no_access', { group: invited })
  assert.equal(await sees(group, user), false)
  await world.make.member(user, 'guest', { group })
  assert.equal(await sees(group, user), true)
})

test('minimal access shows the group itself and nothing below it', async () => {
  const { top, group } = await place()
  const project = await world.make.project({ group: top })
  const user = await world.make.memberOf('minimal_access', { group: top })
  assert.deepEqual([await sees(top, user), await sees(group, user)], [true, false])
  assert.deepEqual((await world.get(`/groups/${top.id}/projects`, user)).body, [])
  await world.make.member(user, 'guest', { project })
  assert.deepEqual(pick(await world.get(`/groups/${top.id}/projects`, user), 'id'), [project.id])
})

test('hidden and absent groups answer alike, byte for byte', async () => {
  const hidden = await world.make.group({ path: 'behind-the-veil' })
  const user = await world.make.user()
  const strip = ({
    status,
    text,
    headers: { date: _d, 'x-request-id': _id, ...headers },
  }: Answered): unknown => ({
    status,
    text,
    headers,
  })
  const refs = [
    hidden.id,
    'behind-the-veil',
    987_654_321,
    'no-such-group',
    '99999999999999999999',
    user.username,
  ]
  for (const as of [undefined, user])
    for (const tail of ['', '/projects']) {
      const answers = []
      for (const ref of refs) answers.push(strip(await world.get(`/groups/${ref}${tail}`, as)))
      assert.deepEqual(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1)
      assert.equal((answers[0] as Answered).text, ABSENT)
    }
})

test('a token that will not do is refused before the group is looked for', async () => {
  for (const path of ['/groups/987654321', '/groups/987654321/projects']) {
    const answer = await world.call('GET', path, { headers: { authorization: 'Bearer nobody-has-this' } })
    assert.equal(answer.status, 401)
    assert.deepEqual(answer.body, { message: '401 Unauthorized' })
  }
})
