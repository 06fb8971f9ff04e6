import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { openWorld, type World } from './support/world.ts'

let world: World
before(async () => {
  world = await openWorld()
})
after(() => world.close())

test('a group can be read', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const answer = await world.get(`/groups/${group.id}`)
  assert.equal(answer.status, 200, answer.text)
  assert.equal((answer.body as { full_path: string }).full_path, group.full_path)
})
