import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import { operations } from '../../src/areas/index.ts'
import { CALLERS, type Caller } from '../calls/calls.ts'
import { roleTables } from '../calls/index.ts'
import { callIn, openScene, setScene, type Scene } from '../calls/scene.ts'
import { sharedWorld } from '../support/stand.ts'

let scene: Scene | undefined
const world = sharedWorld(async (here) => void (scene = await openScene(here, 'private')))

test('AUTH-08: every operation has its line, and every line an operation', () => {
  for (const table of Object.values(roleTables)) {
    assert.deepEqual([...table.keys()].sort(), operations.map(({ name }) => name).sort())
    for (const [name, cells] of table) assert.equal(cells.length, CALLERS.length, name)
  }
})

// The published words, in full; which operation is asked does not matter.
suite('refusals', () => {
  const ask = async (name: string, who: Caller): Promise<string> => {
    const op = operations.find((one) => one.name === name)
    if (scene === undefined || op === undefined) throw new Error(`there is no ${name}`)
    const path = await setScene(world(), scene, op)
    return (await callIn(world(), scene, op, { as: scene.callers.get(who), path })).text
  }
  for (const [name, who, text] of [
    ['createGroupLabel', 'nobody', '{"message":"401 Unauthorized"}'],
    ['getPlanLimits', 'nobody', '{"message":"401 Unauthorized"}'],
    ['getPlanLimits', 'owner', '{"message":"403 Forbidden"}'],
    ['createGroupLabel', 'guest', '{"message":"403 Forbidden"}'],
    ['createGroupLabel', 'none', '{"message":"404 Group Not Found"}'],
    ['listCommits', 'none', '{"message":"404 Project Not Found"}'],
    ['listCommits', 'guest', '{"message":"403 Forbidden"}'],
    ['getNamespace', 'none', '{"message":"404 Namespace Not Found"}'],
  ] as const)
    test(`AUTH-08: ${name} by ${who} answers ${text}`, async () => assert.equal(await ask(name, who), text))

  // Rights come from levels alone: what a name or a column elsewhere says gives none.
  test('AUTH-08: an external user sees no internal group, and what it is a member of', async () => {
    const { make } = world()
    const group = await make.group({ visibility: 'internal' })
    const user = await make.user()
    await make.sql(`update users set external = true where id = ${user.id}`)
    const status = async (): Promise<number> => (await world().get(`/groups/${group.id}`, user)).status
    assert.equal(await status(), 404)
    assert.equal((await world().get(`/groups/${group.id}`, await make.user())).status, 200)
    assert.equal((await world().get(`/groups/${group.id}`)).status, 404)
    await make.member(user, 'guest', { group })
    assert.equal(await status(), 200)
  })
})
