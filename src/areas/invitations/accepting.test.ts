import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'kysely'
import { confirmEmail } from '../../core/people/invitations.ts'
import { approvePromotions } from '../../core/people/promotions.ts'
import { statement } from '../../db/statement.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld, visible } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

const GONE = statement(() => sql`delete from invitations where email = 'gone@z.example'`)

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
/** A user confirms an address. */
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

test('promotions by invitation wait for an administrator where the setting asks for it', async () => {
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

const POSSESSED = `insert into user_emails (user_id, email) select id, $2 from users where id = $1`
const told = ({ status, body }: Answered): unknown[] => [status, body]
const FORBIDDEN = [403, { message: '403 Forbidden' }]

test('people are invited by their ids, with commas too, and each who cannot be is named', async () => {
  const { make, call } = world()
  const group = await make.group()
  const as = await make.memberOf('owner', { group })
  const [one, two] = [await make.user(), await make.user()]
  const byId = async (user_id: string): Promise<unknown[]> =>
    told(await call('POST', `/groups/${group.id}/invitations`, { as, body: { user_id, access_level: 20 } }))
  assert.deepEqual(await byId(`${one.id}, ${two.id}`), [201, { status: 'success' }])
  for (const someone of [one, two])
    assert.deepEqual(await held('members', someone), [{ place: `group ${group.id}`, level: 20 }])
  const message = { [two.username]: 'User already exists in source', 987654321: 'User not found' }
  assert.deepEqual(await byId(`${two.id},987654321`), [201, { status: 'error', message }])
})

test('a second address that is known to be somebody’s makes a member, one that is not makes no difference', async () => {
  const { make, call, get } = world()
  const group = await make.group({ visibility: 'public' })
  const owner = await make.memberOf('owner', { group })
  const [known, claiming, stranger] = [await make.user(), await make.user(), await make.user()]
  await arrive(known, 'second@z.example')
  await rowsOf(world(), POSSESSED, [claiming.id, 'claimed@z.example'])
  const path = `/groups/${group.id}/invitations`
  for (const name of ['second', 'claimed', 'nobody'])
    await invite(owner, ['groups', group.id], `${name}@z.example`, 20)
  assert.deepEqual(await held('members', known), [{ place: `group ${group.id}`, level: 20 }])
  assert.deepEqual(await held('members', claiming), [])
  const rows = (await get(path, owner)).body as { invite_email: string; user_name: unknown }[]
  assert.deepEqual(
    rows.map(({ invite_email, user_name }) => [invite_email, user_name]),
    [
      ['claimed@z.example', null],
      ['nobody@z.example', null],
    ],
  )
  // Inviters see new members in the member list only; other users see nothing, invitees included.
  const one = (email: string): string => `${path}/${encodeURIComponent(email)}`
  for (const method of ['PUT', 'DELETE'] as const) {
    const ask = (email: string): Promise<Answered> =>
      call(method, one(email), { as: owner, body: { access_level: 30 } })
    assert.deepEqual(visible(await ask('second@z.example')), visible(await ask('other@z.example')))
  }
  for (const as of [stranger, known, claiming])
    for (const email of ['second@z.example', 'claimed@z.example', 'nobody@z.example', 'other@z.example'])
      for (const answer of [
        await get(`${path}?query=${encodeURIComponent(email)}`, as),
        await call('POST', path, { as, body: { email, access_level: 20 } }),
        await call('PUT', one(email), { as, body: { access_level: 30 } }),
        await call('DELETE', one(email), { as }),
      ])
        assert.deepEqual(told(answer), FORBIDDEN)
})

test('an invitation that goes away while it is taken back was not taken back', async () => {
  const { make, call, opened } = world()
  const group = await make.group()
  const as = await make.memberOf('owner', { group })
  await invite(as, ['groups', group.id], 'gone@z.example', 20)
  let late: Promise<Answered> | undefined
  await opened.instance.db.transaction(async (tx) => {
    await tx.rows(GONE, {})
    late = call('DELETE', `/groups/${group.id}/invitations/gone@z.example`, { as })
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    for (let turn = 0; turn < 400 && (await rowsOf(world(), waiting)).length === 0; turn++) await sleep(5)
  })
  assert.ok(late)
  assert.deepEqual(told(await late), [409, { message: '409 Conflict' }])
})
