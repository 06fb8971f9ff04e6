/* The unmodified client @gitbeaker/rest protects branches of the project it may maintain, on the real program. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { errorOf, openHarbour, type Harbour } from '../support/harbour.ts'

let harbour: Harbour
before(async () => {
  harbour = await openHarbour()
})
after(() => harbour.place.clear())

interface Seen {
  readonly name: string
  readonly allow_force_push: boolean
  readonly push_access_levels?: readonly { readonly access_level: number }[]
}
/** A protection, reduced. */
function essence(given: unknown): unknown[] {
  const { name, allow_force_push, push_access_levels = [] } = given as Seen
  return [name, allow_force_push, push_access_levels.map(({ access_level }) => access_level)]
}

test('it protects, lists, shows, changes and unprotects branches', async () => {
  const { ProtectedBranches } = harbour.as('owner')
  const id = harbour.projectId
  const made = await ProtectedBranches.protect(id, 'release/*', { pushAccessLevel: 30 })
  assert.deepEqual(essence(made), ['release/*', false, [30]])
  assert.deepEqual((await ProtectedBranches.all(id)).map(essence), [
    ['main', false, [40]],
    ['release/*', false, [30]],
  ])
  assert.deepEqual((await ProtectedBranches.all(id, { search: 'release' })).map(essence), [
    ['release/*', false, [30]],
  ])
  assert.deepEqual(await ProtectedBranches.show(id, 'release/*'), made)
  const changed = await ProtectedBranches.edit(id, 'release/*', { allowForcePush: true })
  assert.deepEqual(essence(changed), ['release/*', true, [30]])
  await ProtectedBranches.unprotect(id, 'release/*')
  const gone = await errorOf(ProtectedBranches.show(id, 'release/*'))
  assert.equal(gone.message, '404 Not found')
})

test('it hears why a branch cannot be protected', async () => {
  const { ProtectedBranches } = harbour.as('owner')
  const twice = await errorOf(ProtectedBranches.protect(harbour.projectId, 'main'))
  assert.equal(twice.message, "Protected branch 'main' already exists")
  const stranger = await errorOf(harbour.as('stranger').ProtectedBranches.protect(harbour.projectId, 'x'))
  assert.equal(stranger.message, '403 Forbidden')
})
