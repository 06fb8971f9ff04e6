import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Namespace, Project } from '../../db/schema/tables.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'

let [admin, owner, user]: Someone[] = []
let harbour: Namespace
let boats: Namespace
let ferry: Project
const world = sharedWorld(async ({ make }) => {
  admin = await make.admin()
  user = await make.user({ username: 'ada', name: 'Ada' })
  harbour = await make.group({ path: 'harbour', name: 'Harbour' })
  boats = await make.group({ parent: harbour, path: 'boats' })
  ferry = await make.project({ group: boats, path: 'ferry' })
  owner = await make.memberOf('owner', { group: harbour })
})
type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
const call = (method: Method, path: string, body?: object, as = owner) =>
  world().call(method, path, { as, ...(body && { body }) })
const told = ({ status, body }: { status: number; body: unknown }): unknown[] => [status, body]
const at = (place: { id: number }): string =>
  place === ferry ? `/projects/${place.id}/members` : `/groups/${place.id}/members`
const levels = async (path: string, as = owner): Promise<Record<string, number>> => {
  const answer = await world().call('GET', path, { as, query: { per_page: '100' } })
  assert.equal(answer.status, 200, answer.text)
  return Object.fromEntries(
    (answer.body as { username: string; access_level: number }[]).map((m) => [m.username, m.access_level]),
  )
}

test('an owner adds a member, who may at once, until the day the role ends', async () => {
  const added = await call('POST', at(harbour), {
    user_id: user?.id,
    access_level: 30,
    expires_at: '2999-01-31',
  })
  assert.equal(added.status, 201, added.text)
  const { created_at, ...body } = added.body as Record<string, unknown>
  const basic = (who: Someone | undefined) => ({
    id: who?.id,
    username: who?.username,
    name: who?.name,
    state: 'active',
    locked: false,
    avatar_url: null,
    web_url: `https://guild.example/${who?.username}`,
  })
  assert.deepEqual(body, {
    ...basic(user),
    access_level: 30,
    created_by: basic(owner),
    expires_at: '2999-01-31',
    membership_state: 'active',
  })
  assert.equal(typeof created_at, 'string')
  assert.deepEqual((await call('GET', `${at(harbour)}/${user?.id}`)).body, added.body)
  assert.equal((await world().get(at(ferry), user)).status, 200)
  await world().make.sql(`update members set expires_at = today() where user_id = ${user?.id}`)
  assert.equal((await world().get(`/groups/${harbour.id}`, user)).status, 404)
  assert.deepEqual(told(await call('GET', `${at(harbour)}/${user?.id}`)), [404, { message: '404 Not found' }])
  const again = await call('POST', at(harbour), { user_id: user?.id, access_level: 20 })
  assert.deepEqual([again.status, (again.body as { access_level: number }).access_level], [201, 20])
})

test('invalid members get the published refusal and change nothing', async () => {
  await world().make.member(user as Someone, 'developer', { group: harbour })
  const bot = await world().make.user()
  await world().make.sql(`update users set user_type = 'project_bot' where id = ${bot.id}`)
  const before = await contents(world())
  const refusals: [object, number, object][] = [
    [{ user_id: user?.id, access_level: 30 }, 409, { message: 'Member already exists' }],
    [{ user_id: 987_654, access_level: 30 }, 404, { message: '404 User Not Found' }],
    [{ username: 'nobody-here', access_level: 30 }, 404, { message: '404 User Not Found' }],
    [
      { user_id: admin?.id, access_level: 7 },
      400,
      { message: { access_level: ['is not included in the list'] } },
    ],
    [
      { user_id: admin?.id, access_level: 30, expires_at: '2001-01-01' },
      400,
      { message: { expires_at: ['cannot be a date in the past'] } },
    ],
    // On the day it ends it would be over already.
    [
      { user_id: admin?.id, access_level: 30, expires_at: new Date().toISOString().slice(0, 10) },
      400,
      { message: { expires_at: ['cannot be a date in the past'] } },
    ],
    [
      { user_id: bot.id, access_level: 30 },
      400,
      { message: { user: ['project bots cannot be added to other groups / projects'] } },
    ],
    [{ user_id: admin?.id }, 400, { error: 'access_level is missing' }],
    [
      { access_level: 30 },
      400,
      { error: 'user_id, username are missing, at least one parameter must be provided' },
    ],
    [
      { access_level: 30, user_id: 1, username: 'a' },
      400,
      { error: 'user_id, username are mutually exclusive' },
    ],
  ]
  for (const [body, status, expected] of refusals)
    assert.deepEqual(told(await call('POST', at(harbour), body)), [status, expected])
  const low = await call('POST', at(boats), { user_id: user?.id, access_level: 20 })
  assert.deepEqual(told(low), [
    400,
    {
      message: {
        access_level: [
          'should be greater than or equal to Developer inherited membership from group Harbour',
        ],
      },
    },
  ])
  const five = await call('POST', at(ferry), { user_id: admin?.id, access_level: 5 })
  assert.deepEqual(told(five), [400, { message: { access_level: ['is not included in the list'] } }])
  assert.equal(await contents(world()), before)
})

test('several are added at once; each who cannot is named, and the others are in', async () => {
  const { make } = world()
  const [one, two] = [await make.user({ username: 'one' }), await make.user({ username: 'two' })]
  const mixed = await call('POST', at(harbour), {
    user_id: `${one.id},${user?.id},${two.id},987654`,
    access_level: 20,
  })
  assert.deepEqual(told(mixed), [
    201,
    { status: 'error', message: { ada: 'User already exists in source', 987654: 'User not found' } },
  ])
  const now = await levels(at(harbour))
  assert.deepEqual([now['one'], now['two'], now['ada']], [20, 20, 30])
  const byName = { username: 'one, nobody-here', access_level: 20 }
  assert.deepEqual((await call('POST', at(harbour), byName)).body, {
    status: 'error',
    message: { one: 'User already exists in source', 'nobody-here': 'User not found' },
  })
  const ids = [await make.user(), await make.user()].map(({ id }) => id)
  assert.deepEqual(told(await call('POST', at(harbour), { user_id: ids, access_level: 10 })), [
    201,
    { status: 'success' },
  ])
  const many = Array.from({ length: 101 }, (_, i) => i + 1)
  assert.deepEqual((await call('POST', at(harbour), { user_id: many, access_level: 10 })).body, {
    status: 'error',
    message: 'Too many users specified (limit is 100)',
  })
  const count = async (users: number[]): Promise<number> =>
    (await world().statements(() => call('POST', at(boats), { user_id: users, access_level: 40 }))).length
  const fresh = async (): Promise<number> => (await make.user()).id
  assert.equal(
    await count([await fresh(), await fresh()]),
    await count([await fresh(), await fresh(), await fresh(), await fresh(), await fresh()]),
  )
})

test('fifty who add one user at once: one does, the others are told', async () => {
  const { id } = await world().make.user()
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => call('POST', at(harbour), { user_id: id, access_level: 30 })),
  )
  const conflicts = answers.filter(
    ({ status, text }) => status === 409 && text === '{"message":"Member already exists"}',
  )
  assert.equal(conflicts.length, 49)
})

test('a maintainer of a project has no say over owners', async () => {
  const { make } = world()
  const maintainer = await make.memberOf('maintainer', { project: ferry })
  const captain = await make.memberOf('owner', { project: ferry })
  const other = await make.user()
  const refused = [403, { message: '403 Forbidden' }]
  const as = maintainer
  assert.deepEqual(told(await call('POST', at(ferry), { user_id: other.id, access_level: 50 }, as)), refused)
  assert.deepEqual(told(await call('PUT', `${at(ferry)}/${captain.id}`, { access_level: 10 }, as)), refused)
  assert.deepEqual(told(await call('DELETE', `${at(ferry)}/${captain.id}`, undefined, as)), refused)
  assert.equal((await call('POST', at(ferry), { user_id: other.id, access_level: 40 }, as)).status, 201)
  const raised = await call('PUT', `${at(ferry)}/${other.id}`, { access_level: 50 }, as)
  assert.deepEqual(told(raised), refused)
  assert.equal((await call('PUT', `${at(ferry)}/${other.id}`, { access_level: 50 }, captain)).status, 200)
})

test('members by every way are listed once, with the strongest of what they hold', async () => {
  const { make } = world()
  const dock = await make.group({ path: 'dock', visibility: 'private' })
  const [guest, both] = [await make.user({ username: 'guest' }), await make.user({ username: 'both' })]
  await make.member(guest, 'maintainer', { group: dock })
  await make.member(both, 'maintainer', { group: dock })
  await make.member(both, 'reporter', { group: harbour })
  await make.sql(
    `insert into group_group_links (shared_group_id, shared_with_group_id, group_access) values (${boats.id}, ${dock.id}, 30)`,
  )
  const all = await levels(`/projects/${ferry.id}/members/all`)
  assert.deepEqual([all['guest'], all['both'], all[owner?.username ?? '']], [30, 30, 50])
  assert.equal((await levels(at(ferry)))['guest'], undefined)
  assert.equal((await call('GET', `${at(boats)}/all/${guest.id}`)).status, 200)
  assert.equal((await call('GET', `${at(harbour)}/all/${guest.id}`)).status, 404)
  await make.sql(`update namespaces set visibility = 'public' where id in (${harbour.id}, ${boats.id})`)
  const stranger = await make.user()
  assert.equal((await levels(`/groups/${boats.id}/members/all`, stranger))['guest'], undefined)
  await make.sql(`update namespaces set visibility = 'private' where id in (${harbour.id}, ${boats.id})`)
  const some = await call('GET', `${at(harbour)}/all?query=BOT&user_ids[]=${both.id}&user_ids[]=${guest.id}`)
  assert.deepEqual(
    (some.body as { username: string }[]).map(({ username }) => username),
    ['both'],
  )
  assert.equal(some.headers['x-total'], '1')
  const skipped = await call('GET', `${at(harbour)}?skip_users=${both.id}&user_ids=${both.id}`)
  assert.deepEqual([skipped.body, skipped.headers['x-total']], [[], '0'])
  const count = async (size: number): Promise<number> =>
    (await world().statements(() => call('GET', `${at(harbour)}/all?per_page=${size}`))).length
  assert.equal(await count(1), await count(50))
})

test('a removed member may nothing from the next request on, neither here nor inside', async () => {
  const { make } = world()
  const gone = await make.memberOf('developer', { group: harbour })
  await make.member(gone, 'maintainer', { project: ferry })
  await make.sql(`
    insert into issues (project_id, iid, title) values (${ferry.id}, 1, 'leak');
    insert into issue_assignees (issue_id, user_id) select id, ${gone.id} from issues where project_id = ${ferry.id}`)
  const answer = await call('DELETE', `${at(harbour)}/${gone.id}?unassign_issuables=true`)
  assert.equal(answer.status, 204, answer.text)
  assert.equal((await world().get(at(ferry), gone)).status, 404)
  assert.deepEqual(await rowsOf(world(), `select from issue_assignees where user_id = ${gone.id}`), [])
  await make.member(gone, 'developer', { group: harbour })
  await make.member(gone, 'maintainer', { project: ferry })
  await call('DELETE', `${at(harbour)}/${gone.id}?skip_subresources=true`)
  assert.equal((await world().get(at(ferry), gone)).status, 200)
  assert.equal((await call('DELETE', `${at(ferry)}/${gone.id}`, undefined, gone)).status, 204)
})

test('the last owner of a group stays, even of two who leave at once', async () => {
  const { make } = world()
  const group = await make.group()
  const [one, two] = [await make.memberOf('owner', { group }), await make.memberOf('owner', { group })]
  const left = await Promise.all(
    [one, two].map((as) => call('DELETE', `${at(group)}/${as.id}`, undefined, as)),
  )
  assert.deepEqual(
    left.map(({ status }) => status).toSorted((a, b) => a - b),
    [204, 403],
  )
  const [last] = await rowsOf<{ user_id: number }>(
    world(),
    `select user_id from members where namespace_id = ${group.id}`,
  )
  const lowered = await call('PUT', `${at(group)}/${last?.user_id}`, { access_level: 40 }, admin)
  assert.deepEqual(told(lowered), [403, { message: '403 Forbidden' }])
})

test('the role of the last owner gets no last day, nor one after which nobody owns the group', async () => {
  const { make } = world()
  const group = await make.group()
  const last = await make.memberOf('owner', { group })
  const to = (user: Someone, body: object): Promise<{ status: number; body: unknown }> =>
    call('PUT', `${at(group)}/${user.id}`, { access_level: 50, ...body }, admin)
  const REFUSED = [403, { message: '403 Forbidden' }]
  assert.deepEqual(told(await to(last, { expires_at: '2999-01-31' })), REFUSED)
  const other = await make.user()
  await make.member(other, 'owner', { group }, '2999-01-31')
  assert.deepEqual(told(await to(last, { expires_at: '2999-01-31' })), REFUSED)
  assert.deepEqual(told(await to(last, { access_level: 40 })), REFUSED)
  assert.equal((await to(other, { expires_at: '2999-01-01' })).status, 200)
  assert.equal((await to(other, { expires_at: null })).status, 200)
  assert.equal((await to(last, { expires_at: '2999-01-31' })).status, 200)
  assert.equal((await to(last, { expires_at: '2999-05-31' })).status, 200)
  await make.sql(`update users set state = 'blocked' where id = ${other.id}`)
  assert.deepEqual(told(await to(last, { expires_at: '2999-01-31' })), REFUSED)
})

test('a promotion into a billable role waits for an administrator where that is asked for', async () => {
  const { make } = world()
  await call('PUT', '/application/settings', { enable_member_promotion_management: true }, admin)
  const [low, lower] = [await make.user({ username: 'low' }), await make.user({ username: 'lower' })]
  const QUEUED = 'Request queued for administrator approval.'
  assert.deepEqual(told(await call('POST', at(harbour), { user_id: low.id, access_level: 30 })), [
    201,
    { message: { low: QUEUED } },
  ])
  const two = { user_id: [low.id, lower.id], access_level: 30 }
  assert.deepEqual(told(await call('POST', at(harbour), two)), [
    201,
    { status: 'success', queued_users: { low: QUEUED, lower: QUEUED } },
  ])
  assert.equal((await call('POST', at(harbour), { user_id: low.id, access_level: 10 })).status, 201)
  assert.deepEqual(told(await call('PUT', `${at(harbour)}/${low.id}`, { access_level: 40 })), [
    200,
    { message: { low: QUEUED } },
  ])
  assert.equal((await levels(at(harbour)))['low'], 10)
  assert.equal((await call('PUT', `${at(harbour)}/${low.id}`, { access_level: 40 }, admin)).status, 200)
  await call('PUT', '/application/settings', { enable_member_promotion_management: false }, admin)
})

test('a membership lock refuses new project members and keeps the present ones', async () => {
  const { make } = world()
  const group = await make.group()
  const project = await make.project({ group })
  const owner = await make.memberOf('owner', { group })
  const [first, second] = [await make.user(), await make.user()]
  const path = `/projects/${project.id}`
  const add = (to: string, person: { id: number }): Promise<Answered> =>
    world().call('POST', `${path}/${to}`, { as: owner, body: { user_id: person.id, access_level: 20 } })
  assert.equal((await add('members', first)).status, 201)
  await world().call('PUT', `/groups/${group.id}`, { as: owner, body: { membership_lock: true } })
  for (const to of ['members', 'invitations'])
    assert.deepEqual(told(await add(to, second)), [403, { message: '403 Forbidden' }], to)
  assert.equal((await world().get(path, first)).status, 200)
  await world().call('PUT', `/groups/${group.id}`, { as: owner, body: { membership_lock: false } })
  assert.equal((await add('members', second)).status, 201)
})

test('the owner of a personal project is listed as its member', async () => {
  const user = await world().make.user()
  const made = await world().call('POST', '/projects', { as: user, body: { name: 'own' } })
  const { id } = made.body as { id: number }
  for (const list of ['members', 'members/all'])
    assert.deepEqual(
      Object.entries(await levels(`/projects/${id}/${list}`, user)),
      [[user.username, 50]],
      list,
    )
})
