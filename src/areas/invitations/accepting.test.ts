import assert from 'node:assert/strict'
import { test } from 'node:test'
import { confirmEmail } from '../../core/invitations.ts'
import { approvePromotions } from '../../core/promotions.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let admin: Someone
const world = sharedWorld(async ({ make }) => {
  admin = await make.admin()
})

type Place = readonly ['groups' | 'projects', number]
const invite = async (as: Someone, [kind, id]: Place, email: string, access_level: number): Promise<void> => {
  const answer = await world().call('POST', `/${kind}/${id}/invitations`, {
    as,
    body: { email, access_level },
  })
  assert.deepEqual([answer.status, answer.body], [201, { status: 'success' }])
}
/** Somebody becomes known by an address. */
async function arrive({ username }: Someone, email: string): Promise<void> {
  const { db } = world().opened.instance
  await world().make.sql(
    `insert into user_emails (user_id, email) select id, '${email}' from users where username = '${username}'`,
  )
  assert.equal(await confirmEmail(db, username, email), 1)
}
const held = (table: 'members' | 'member_promotions', { id }: Someone): Promise<unknown[]> =>
  rowsOf(
    world(),
    `select coalesce('group ' || namespace_id, 'project ' || project_id) as place, access_level::int as level
       from ${table} where user_id = ${id} order by 1`,
  )

test('what an invitation promotes to waits for an administrator too, where that is asked for', async () => {
  const { make, call } = world()
  const group = await make.group()
  const project = await make.project({ group })
  const owner = await make.memberOf('owner', { group })
  const settle = (on: boolean): Promise<unknown> =>
    call('PUT', '/application/settings', { as: admin, body: { enable_member_promotion_management: on } })
  const [low, free, late] = [await make.user(), await make.user(), await make.user()]
  await invite(owner, ['groups', group.id], 'low@y.example', 30)
  await invite(owner, ['projects', project.id], 'low@y.example', 10)
  await invite(admin, ['groups', group.id], 'free@y.example', 30)
  await invite(owner, ['projects', project.id], 'late@y.example', 40)
  await settle(true)
  await arrive(low, 'low@y.example')
  await arrive(free, 'free@y.example')
  await arrive(late, 'late@y.example')
  await settle(false)
  assert.deepEqual(await held('members', low), [{ place: `project ${project.id}`, level: 10 }])
  assert.deepEqual(await held('member_promotions', low), [{ place: `group ${group.id}`, level: 30 }])
  assert.deepEqual(await held('members', free), [{ place: `group ${group.id}`, level: 30 }])
  assert.deepEqual(await held('members', late), [])
  // Approving takes nothing from who has more by then.
  await make.member(late, 'owner', { project })
  assert.equal(await approvePromotions(world().opened.instance.db, late.username), 1)
  assert.deepEqual(await held('members', late), [{ place: `project ${project.id}`, level: 50 }])
  assert.equal(await approvePromotions(world().opened.instance.db, low.username), 1)
  assert.equal((await held('members', low)).length, 2)
})

test('a role that is over is no hindrance to accepting another', async () => {
  const { make } = world()
  const group = await make.group()
  const project = await make.project({ group })
  const owner = await make.memberOf('owner', { group })
  const back = await make.user()
  await make.member(back, 'guest', { group }, '2020-01-01')
  await make.member(back, 'guest', { project }, '2020-01-01')
  await invite(owner, ['groups', group.id], 'back@y.example', 20)
  await invite(owner, ['projects', project.id], 'back@y.example', 30)
  await arrive(back, 'back@y.example')
  assert.deepEqual(await held('members', back), [
    { place: `group ${group.id}`, level: 20 },
    { place: `project ${project.id}`, level: 30 },
  ])
  assert.deepEqual(
    await rowsOf(world(), `select from members where user_id = ${back.id} and expires_at is not null`),
    [],
  )
})
