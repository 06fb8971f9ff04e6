import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { operations } from '../src/areas/index.ts'
import { requiredOf } from '../src/http/params/params.ts'
import { callerOf, openScene, pathOf, setScene } from './calls/scene.ts'
import { contents } from './support/stand.ts'
import { openWorld } from './support/world.ts'

// Derived from the operations: a PUT or PATCH without parameters changes no row, updated_at included.

const world = await openWorld()
after(() => world.close())
const scene = await openScene(world, 'private')
const admin = callerOf(scene, 'admin')

/** These act without parameters: the path says what happens, and an empty status takes the old one away. */
const ACTS =
  /\/(status|promote|merge|rebase|reset_approvals|reset_time_estimate|reset_spent_time|approve|access_tokens\/self)$/

for (const op of operations) {
  const isChange = op.method === 'PUT' || op.method === 'PATCH'
  if (!isChange || requiredOf(op.params).length > 0 || ACTS.test(op.path)) continue
  test(`${op.name} without parameters changes nothing`, async () => {
    const path = pathOf(op, await setScene(world, scene, op))
    const before = await contents(world)
    const answer = await world.call(op.method, path, { as: admin, body: {} })
    assert.ok(answer.status < 500, answer.text)
    assert.equal(await contents(world), before)
  })
}
