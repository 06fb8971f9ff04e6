import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { openWorld, type World } from '../../../test/support/world.ts'

let world: World
let user: Someone
before(async () => {
  world = await openWorld()
  user = await world.make.user()
})
after(() => world.close())

/** The answer as it goes over the wire: the order of keys is part of it. */
async function asked(path: string, query: Record<string, string> = {}): Promise<string> {
  const answer = await world.call('GET', `/namespaces/${encodeURIComponent(path)}/exists`, {
    as: user,
    query,
  })
  assert.equal(answer.status, 200, answer.text)
  assert.equal(answer.headers['content-type'], 'application/json')
  return answer.text
}
const FREE = '{"exists":false,"suggests":[]}'
const taken = (suggestion: string): string => `{"exists":true,"suggests":["${suggestion}"]}`

test('whether a path is taken is for who is signed in', async () => {
  for (const tail of ['', '?parent_id=x']) {
    const answer = await world.get(`/namespaces/whatever/exists${tail}`)
    assert.deepEqual([answer.status, answer.body], [401, { message: '401 Unauthorized' }])
  }
})

test('a free path has no suggestion, a taken one exactly one', async () => {
  await world.make.group({ path: 'harbour' })
  assert.equal(await asked('harbour'), taken('harbour1'))
  assert.equal(await asked('harbor'), FREE)
  assert.equal(await asked('harbou'), FREE, 'a part of a path is not the path')
})

test('letter case does not matter for being taken, and the suggestion keeps it', async () => {
  await world.make.group({ path: 'Quay' })
  assert.equal(await asked('quay'), taken('quay1'))
  assert.equal(await asked('QUAY'), taken('QUAY1'))
})

test('dots belong to a path', async () => {
  await world.make.group({ path: 'ship.yard' })
  assert.equal(await asked('ship.yard'), taken('ship.yard1'))
  assert.equal(await asked('ship_yard'), FREE)
})

test('the name of a group does not make its path taken', async () => {
  await world.make.group({ path: 'pier', name: 'Jetty' })
  assert.equal(await asked('jetty'), FREE)
})

test('user names are taken at the top level, projects are no namespaces', async () => {
  const group = await world.make.group({ visibility: 'public' })
  const project = await world.make.project({ group, visibility: 'public' })
  assert.equal(await asked(user.username), taken(`${user.username}1`))
  assert.equal(await asked(project.path, { parent_id: String(group.id) }), FREE)
  assert.equal(await asked(project.full_path), FREE)
})

test('without a parent only the top level counts, with one only what is directly below it', async () => {
  const top = await world.make.group({ path: 'fleet' })
  const middle = await world.make.group({ parent: top, path: 'frigate' })
  await world.make.group({ parent: middle, path: 'gun-deck' })
  const other = await world.make.group({ path: 'merchants' })
  const below = { parent_id: String(top.id) }
  assert.equal(await asked('frigate'), FREE)
  assert.equal(await asked('frigate', { parent_id: '' }), FREE)
  assert.equal(await asked('frigate', below), taken('frigate1'))
  assert.equal(await asked('gun-deck', below), FREE)
  assert.equal(await asked('fleet', below), FREE)
  assert.equal(await asked('fleet/frigate'), FREE)
  assert.equal(await asked('frigate', { parent_id: String(other.id) }), FREE)
  assert.equal(await asked('frigate', { parent_id: '987654321' }), FREE)
  assert.equal(await asked('fleet', { parent_id: '987654321' }), FREE)
})

test('a path is taken below a parent the caller cannot see, too', async () => {
  const hidden = await world.make.group({ visibility: 'private' })
  await world.make.group({ parent: hidden, path: 'cellar' })
  assert.equal((await world.get(`/groups/${hidden.id}`, user)).status, 404)
  assert.equal(await asked('cellar', { parent_id: String(hidden.id) }), taken('cellar1'))
})

test('a suggestion is no path and no name of the same parent, in any letter case', async () => {
  await world.make.group({ path: 'mast' })
  await world.make.group({ path: 'MAST1' })
  await world.make.group({ path: 'spar', name: 'Mast2' })
  const parent = await world.make.group({ path: 'mast-yard' })
  await world.make.group({ parent, path: 'mast3' })
  assert.equal(await asked('mast'), taken('mast3'))
  await world.make.group({ path: 'boom', name: 'mast3' })
  assert.equal(await asked('mast'), taken('mast4'))
})

test('after four tries a number that nobody has is appended', async () => {
  const parent = await world.make.group()
  for (const path of ['sail', 'sail1', 'sail2', 'sail3', 'sail4']) await world.make.group({ parent, path })
  const below = { parent_id: String(parent.id) }
  const text = await asked('sail', below)
  const { exists, suggests } = JSON.parse(text) as { exists: boolean; suggests: string[] }
  assert.equal(exists, true)
  assert.equal(suggests.length, 1)
  assert.match(suggests[0] ?? '', /^sail\d{9,}$/)
  assert.equal(await asked(suggests[0] ?? '', below), FREE)
})

test('an invalid path is never taken', async () => {
  for (const path of ['a b', 'a@b', '-', '..a', 'ü', "'", '%', '_'])
    assert.equal(await asked(path), FREE, path)
})

test('a parent that is no number is refused', async () => {
  const answer = await world.get('/namespaces/x/exists?parent_id=abc', user)
  assert.deepEqual([answer.status, answer.body], [400, { error: 'parent_id is invalid' }])
  const nul = await world.get('/namespaces/a%00b/exists', user)
  assert.deepEqual([nul.status, nul.body], [400, { error: 'namespace is invalid' }])
})
