import assert from 'node:assert/strict'
import { after, suite, test } from 'node:test'
import { operations } from '../../src/areas/index.ts'
import type { Visibility } from '../../src/db/schema/columns.ts'
import type { NamedOperation } from '../../src/http/operation.ts'
import { contents, sharedWorld } from '../support/stand.ts'
import { CALLERS, type Caller } from './calls.ts'
import { createExamples } from './examples.ts'
import { callsOf, roleTables } from './index.ts'
import { callIn, openScene, setScene, type Scene } from './scene.ts'

/** AUTH-08: asks every operation as everybody, where group and project are that visible, and compares with the tables. */
export function checkRoles(visibility: Visibility): void {
  let scene: Scene | undefined
  const world = sharedWorld(async (here) => void (scene = await openScene(here, visibility)))
  const here = (): Scene => {
    if (scene === undefined) throw new Error('the scene is not open yet')
    return scene
  }
  const state = async (op: NamedOperation): Promise<string> =>
    (await contents(world())) + ((await callsOf(op.name).see?.(world(), here())) ?? '')

  const examples = createExamples()
  after(examples.write)

  suite(`every operation for every role where all is ${visibility}`, () => {
    for (const op of operations)
      test(`AUTH-08: ${op.name} where all is ${visibility}`, async () => {
        const expected = roleTables[visibility].get(op.name) ?? []
        assert.equal(expected.length, CALLERS.length, 'a status for each caller')
        const got = new Map<Caller, number>()
        const isReading = callsOf(op.name).reads?.includes(op.name) ?? false
        const changes = (who: Caller): boolean =>
          op.method !== 'GET' && !isReading && (expected[CALLERS.indexOf(who)] ?? 0) < 300
        const ask = async (who: Caller, path: Readonly<Record<string, string>>): Promise<void> => {
          const answer = await callIn(world(), here(), op, { as: here().callers.get(who), path })
          got.set(who, answer.status)
          examples.record(op, answer)
        }

        const path = await setScene(world(), here(), op)
        const before = await state(op)
        for (const who of CALLERS.filter((one) => !changes(one))) await ask(who, path)
        assert.equal(await state(op), before, 'whoever is refused or only reads changes nothing')

        const writers = CALLERS.filter(changes)
        for (const who of writers) await ask(who, await setScene(world(), here(), op))
        if (writers.length > 0) assert.notEqual(await state(op), before, 'who may write has written')
        assert.deepEqual(
          CALLERS.map((who) => got.get(who)),
          expected,
        )
      })
  })
}
