import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { openWorld, type Answered, type World } from '../../../test/support/world.ts'

const PATH = '/project_aliases'

async function inWorld(env: Record<string, string>, work: (world: World) => Promise<void>): Promise<void> {
  const world = await openWorld({ env })
  try {
    await world.make.sql(`insert into project_aliases (project_id, name)
      values (${(await world.make.project({ visibility: 'public' })).id}, 'here')`)
    await work(world)
    assert.deepEqual(await rowsOf(world, 'select name from project_aliases'), [{ name: 'here' }])
  } finally {
    await world.close()
  }
}

/** All four operations on what exists, what does not, and with no parameter right. */
const calls = (world: World, as: Someone | undefined): Promise<Answered[]> =>
  Promise.all([
    world.call('GET', PATH, { as }),
    world.call('GET', PATH, { as, query: { page: 'x' } }),
    world.call('GET', `${PATH}/here`, { as }),
    world.call('GET', `${PATH}/gone`, { as }),
    world.call('POST', PATH, { as, body: { project_id: 1, name: 'new' } }),
    world.call('POST', PATH, { as, body: {} }),
    world.call('DELETE', `${PATH}/here`, { as }),
    world.call('DELETE', `${PATH}/gone`, { as }),
  ])

async function allRefused(world: World, as: Someone | undefined, expected: [number, object]): Promise<void> {
  const answers = await calls(world, as)
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body]),
    answers.map(() => expected),
  )
}

test('aliases need a token', () =>
  inWorld({}, (world) => allRefused(world, undefined, [401, { message: '401 Unauthorized' }])))

test('aliases need an administrator', () =>
  inWorld({}, async (world) => {
    const owner = await world.make.user()
    await world.make.sql(`insert into members (user_id, namespace_id, access_level)
      select ${owner.id}, id, 50 from namespaces where kind = 'group'`)
    await allRefused(world, owner, [403, { message: '403 Forbidden' }])
  }))

test('below the needed licence everybody is refused before anybody is asked who they are', () =>
  inWorld({ GUILDHALL_TIER: 'free' }, async (world) => {
    for (const as of [undefined, await world.make.user(), await world.make.admin()])
      await allRefused(world, as, [403, { message: '403 Forbidden' }])
  }))

test('a premium licence is enough', () =>
  inWorld({ GUILDHALL_TIER: 'premium' }, async (world) => {
    const answer = await world.get(`${PATH}/here`, await world.make.admin())
    assert.equal(answer.status, 200, answer.text)
  }))

test('a hosted offering has no aliases', () =>
  inWorld({ GUILDHALL_OFFERING: 'hosted' }, async (world) => {
    for (const as of [undefined, await world.make.admin()])
      await allRefused(world, as, [404, { error: '404 Not Found' }])
  }))

test('a token that may only read cannot make or delete an alias', () =>
  inWorld({}, async (world) => {
    const admin = await world.make.admin()
    const reader = { ...admin, token: await world.make.token(admin, { scopes: ['read_api'] }) }
    assert.equal((await world.get(`${PATH}/here`, reader)).status, 200)
    for (const [method, path] of [
      ['POST', PATH],
      ['DELETE', `${PATH}/here`],
    ] as const) {
      const answer = await world.call(method, path, { as: reader })
      assert.equal(answer.status, 403)
      assert.deepEqual(answer.body, {
        error: 'insufficient_scope',
        error_description: 'The request requires higher privileges than provided by the access token.',
        scope: 'api read_api',
      })
    }
  }))
