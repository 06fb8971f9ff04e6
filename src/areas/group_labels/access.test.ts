import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { makeLabel } from '../../../test/support/label_makers.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'
import type { RoleName } from '../../core/sight/roles.ts'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Visibility } from '../../db/schema/columns.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

const NO_GROUP = [404, { message: '404 Group Not Found' }] as const
const FORBIDDEN = [403, { message: '403 Forbidden' }] as const
const NO_TOKEN = [401, { message: '401 Unauthorized' }] as const
const VISIBILITIES: readonly Visibility[] = ['private', 'internal', 'public']
const ROLES: readonly RoleName[] = [
  ...(['minimal_access', 'guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner'] as const),
]
const seen = ({ status, body }: Answered): unknown[] => [status, body]

interface Call {
  readonly name: string
  readonly writes: boolean
  readonly success: number
  readonly run: (group: { id: number | string }, as: Someone | undefined) => Promise<Answered>
}

/** Every operation, each on a label of its own so that the order of callers does not matter. */
const calls: readonly Call[] = [
  {
    name: 'list',
    writes: false,
    success: 200,
    run: ({ id }, as) => world.get(`/groups/${id}/labels`, as),
  },
  onLabel('get', false, 200, (id, label, as) => world.get(`/groups/${id}/labels/${label}`, as)),
  {
    name: 'create',
    writes: true,
    success: 201,
    run: ({ id }, as) =>
      world.call('POST', `/groups/${id}/labels`, {
        as,
        body: { name: `made-by-${as?.id ?? 'nobody'}`, color: 'red' },
      }),
  },
  onLabel('update', true, 200, (id, label, as) =>
    world.call('PUT', `/groups/${id}/labels/${label}`, { as, body: { description: 'changed' } }),
  ),
  onLabel('update by name', true, 200, (id, label, as) =>
    world.call('PUT', `/groups/${id}/labels`, { as, body: { label_id: label, description: 'changed' } }),
  ),
  onLabel('delete', true, 204, (id, label, as) =>
    world.call('DELETE', `/groups/${id}/labels/${label}`, { as }),
  ),
  {
    name: 'delete by name',
    writes: true,
    success: 204,
    run: async ({ id }, as) => {
      const title = typeof id === 'number' ? (await makeLabel(world, { group: { id } })).title : 'x'
      return world.call('DELETE', `/groups/${id}/labels`, { as, body: { name: title } })
    },
  },
  onLabel('subscribe', false, 201, (id, label, as) =>
    world.call('POST', `/groups/${id}/labels/${label}/subscribe`, { as }),
  ),
  onLabel('unsubscribe', false, 304, (id, label, as) =>
    world.call('POST', `/groups/${id}/labels/${label}/unsubscribe`, { as }),
  ),
]

function onLabel(
  name: string,
  writes: boolean,
  success: number,
  run: (group: number | string, label: number, as: Someone | undefined) => Promise<Answered>,
): Call {
  return {
    name,
    writes,
    success,
    run: async ({ id }, as) =>
      run(id, typeof id === 'number' ? (await makeLabel(world, { group: { id } })).id : 1, as),
  }
}

const state = (group: Namespace): Promise<object[]> =>
  rowsOf(world, 'select * from labels where group_id = $1 order by id', [group.id])

/** Calls everything and expects nothing to have happened. */
async function refused(call: Call, group: Namespace, as: Someone | undefined): Promise<unknown[]> {
  const before = await state(group)
  const answer = await call.run(group, as)
  const now = await state(group)
  assert.deepEqual(now.slice(0, before.length), before)
  for (const row of now.slice(before.length))
    assert.equal((row as { description: unknown }).description, null, 'a refused call left a change')
  return seen(answer)
}

test('labels of groups need a token, whatever the visibility', async () => {
  for (const visibility of VISIBILITIES) {
    const group = await world.make.group({ visibility })
    for (const call of calls)
      assert.deepEqual(await refused(call, group, undefined), NO_TOKEN, `${call.name} in ${visibility}`)
  }
  for (const call of calls) assert.deepEqual(seen(await call.run({ id: 'no-such' }, undefined)), NO_TOKEN)
})

test('a stranger reads where the group is open, writes nowhere, and sees nothing of a private group', async () => {
  const stranger = await world.make.user()
  for (const visibility of VISIBILITIES) {
    const group = await world.make.group({ visibility })
    for (const call of calls) {
      if (visibility === 'private')
        assert.deepEqual(await refused(call, group, stranger), NO_GROUP, call.name)
      else if (call.writes) assert.deepEqual(await refused(call, group, stranger), FORBIDDEN, call.name)
      else assert.equal((await call.run(group, stranger)).status, call.success, call.name)
    }
  }
})

test('an external stranger sees public groups only', async () => {
  const external = await world.make.user()
  await rowsOf(world, 'update users set external = true where id = $1', [external.id])
  for (const visibility of VISIBILITIES) {
    const group = await world.make.group({ visibility })
    const answer = await world.get(`/groups/${group.id}/labels`, external)
    assert.deepEqual(seen(answer), visibility === 'public' ? [200, []] : NO_GROUP, visibility)
  }
})

test('every member reads but by Minimal Access in a private group, and from Reporter up writes', async () => {
  for (const visibility of VISIBILITIES) {
    const group = await world.make.group({ visibility })
    for (const role of ROLES) {
      const member = await world.make.memberOf(role, { group })
      const may = ['reporter', 'developer', 'maintainer', 'owner'].includes(role)
      for (const call of calls) {
        const where = `${role}: ${call.name} in ${visibility}`
        const blind = role === 'minimal_access' && visibility === 'private'
        if ((call.writes && !may) || blind)
          assert.deepEqual(await refused(call, group, member), FORBIDDEN, where)
        else assert.equal((await call.run(group, member)).status, call.success, where)
      }
    }
  }
})

test('a role on the group above counts, and a denial wins over it', async () => {
  const parent = await world.make.group()
  const group = await world.make.group({ parent })
  const reporter = await world.make.memberOf('reporter', { group: parent })
  for (const call of calls) assert.equal((await call.run(group, reporter)).status, call.success, call.name)
  await world.make.member(reporter, 'no_access', { group })
  for (const call of calls) assert.deepEqual(await refused(call, group, reporter), NO_GROUP, call.name)
})

test('a role that ended no longer counts', async () => {
  const group = await world.make.group()
  const past = await world.make.user()
  await world.make.member(past, 'owner', { group }, '2020-01-01')
  for (const call of calls) assert.deepEqual(await refused(call, group, past), NO_GROUP, call.name)
})

test('a member of a project inside reads the labels of its private group and cannot change them', async () => {
  const group = await world.make.group()
  const member = await world.make.memberOf('owner', { project: await world.make.project({ group }) })
  for (const call of calls) {
    if (call.writes) assert.deepEqual(await refused(call, group, member), FORBIDDEN, call.name)
    else assert.equal((await call.run(group, member)).status, call.success, call.name)
  }
})

test('an administrator does everything everywhere', async () => {
  const admin = await world.make.admin()
  for (const visibility of VISIBILITIES) {
    const group = await world.make.group({ visibility })
    for (const call of calls) assert.equal((await call.run(group, admin)).status, call.success, call.name)
  }
})

test('a hidden group and one that does not exist answer alike, byte for byte', async () => {
  const stranger = await world.make.user()
  const hidden = await world.make.group()
  const project = await world.make.project({ visibility: 'public' })
  for (const call of calls) {
    const answer = await call.run(hidden, stranger)
    for (const id of ['no-such', '999999999', encodeURIComponent(hidden.full_path), stranger.username])
      assert.equal((await call.run({ id }, stranger)).text, answer.text, `${call.name} ${id}`)
    const other = await call.run({ id: encodeURIComponent(project.full_path) }, stranger)
    assert.equal(other.text, answer.text)
  }
})

test('a token that may only read reads, and is told what it lacks when it writes', async () => {
  const group = await world.make.group()
  const owner = await world.make.memberOf('owner', { group })
  const reader = { ...owner, token: await world.make.token(owner, { scopes: ['read_api'] }) }
  for (const call of calls) {
    if (['list', 'get'].includes(call.name)) assert.equal((await call.run(group, reader)).status, 200)
    else
      assert.deepEqual(await refused(call, group, reader), [
        403,
        {
          error: 'insufficient_scope',
          error_description: 'The request requires higher privileges than provided by the access token.',
          scope: 'api read_api',
        },
      ])
  }
})
