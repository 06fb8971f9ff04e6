import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'

let admin: Someone
const world = sharedWorld(async ({ make }) => {
  admin = await make.admin()
})

/** Incompressible text. */
const word = (length: number): string => `a${randomBytes(length).toString('hex')}`.slice(0, length)
const name = (): string =>
  Array.from({ length: 255 }, () => String.fromCodePoint(0x1f300 + randomInt(0x2ff))).join('')
const TOO_LONG = 'is too long (maximum is 500 characters)'

test('an address of a group has 500 characters at most, with names and projects as long as may be; one more is refused', async () => {
  const create = async (length: number, parent?: number): Promise<{ status: number; body: unknown }> => {
    const body = {
      name: name(),
      path: word(length),
      ...(parent !== undefined && { parent_id: parent }),
    }
    return world().call('POST', '/groups', { as: admin, body })
  }
  const idOf = ({ status, body }: { status: number; body: unknown }): number => {
    assert.equal(status, 201, JSON.stringify(body))
    return (body as { id: number }).id
  }
  const top = idOf(await create(249))
  const full = idOf(await create(250, top))
  const project = { as: admin, body: { name: 'p', path: word(255), namespace_id: full } }
  assert.equal((await world().call('POST', '/projects', project)).status, 201)
  const beside = idOf(await create(251))

  const before = await contents(world())
  assert.deepEqual((await create(251, top)).body, {
    message: `Failed to save group {:full_path=>["${TOO_LONG}"]}`,
  })
  const renamed = await world().call('PUT', `/groups/${top}`, { as: admin, body: { path: word(250) } })
  assert.equal(renamed.status, 400)
  assert.deepEqual(renamed.body, { message: { full_path: [TOO_LONG] } })
  const moved = await world().call('POST', `/groups/${beside}/transfer`, {
    as: admin,
    body: { group_id: top },
  })
  assert.equal(moved.status, 400)
  assert.deepEqual(moved.body, { message: `Transfer failed: Validation failed: Full path ${TOO_LONG}` })
  assert.equal(await contents(world()), before)
})

test('a group whose address is longer from before can still be changed', async () => {
  const { make } = world()
  const group = await make.group({ path: word(200) })
  await make.sql(`
    alter table namespaces disable trigger namespaces_full_path_fits;
    update namespaces set full_path = path || '/${word(400)}' where id = ${group.id};
    alter table namespaces enable trigger namespaces_full_path_fits`)
  const body = { description: 'old and long' }
  assert.equal((await world().call('PUT', `/groups/${group.id}`, { as: admin, body })).status, 200)
})
