import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let shop: Workshop
let iid: number
let people: Record<'admin' | 'owner' | 'reporter' | 'guest' | 'stranger', Someone>
/** A public project with one merge request. */
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here, 'public')
  iid = await shop.open('topic')
  const { project, owner } = shop
  people = {
    admin: await here.make.admin(),
    owner,
    reporter: await here.make.memberOf('reporter', { project }),
    guest: await here.make.memberOf('guest', { project }),
    stranger: await here.make.user(),
  }
})

const set = async (repository_access_level: string): Promise<void> => {
  const path = `/projects/${shop.project.id}`
  const answer = await world().call('PUT', path, { as: shop.owner, body: { repository_access_level } })
  assert.equal(answer.status, 200, answer.text)
}
const PATHS = [
  '',
  '/commits',
  '/changes',
  '/diffs',
  '/raw_diffs',
  '/versions',
  '/pipelines',
  '/notes',
  '/discussions',
]
/** The answer of each of its addresses, once. */
const statuses = async (as: Someone): Promise<number[]> => {
  const base = `/projects/${shop.project.id}/merge_requests/${iid}`
  const found = await Promise.all(PATHS.map(async (path) => (await world().get(base + path, as)).status))
  return [...new Set(found)]
}
const listed = async (as: Someone): Promise<number> =>
  ((await world().get('/merge_requests?scope=all', as)).body as unknown[]).length

test('where the repository is switched off nobody sees its merge requests, nor merges them', async () => {
  await set('disabled')
  const tip = await shop.tip('main')
  for (const [name, as] of Object.entries(people)) {
    assert.deepEqual(await statuses(as), [404], name)
    assert.equal((await shop.ask('GET', '', { as })).status, 403, name)
    if (name !== 'admin') assert.equal(await listed(as), 0, name)
  }
  assert.equal((await shop.ask('PUT', `/${iid}/merge`)).status, 404)
  assert.equal((await shop.ask('PUT', `/${iid}`, { body: { title: 'Other' } })).status, 404)
  const made = { source_branch: 'topic', target_branch: 'main', title: 'Again' }
  assert.equal((await shop.ask('POST', '', { body: made })).status, 403)
  assert.equal(await shop.tip('main'), tip)
  await set('enabled')
  assert.deepEqual(await statuses(people.stranger), [200])
})

test('where it is for members only, nobody else sees them', async () => {
  await set('private')
  for (const name of ['admin', 'owner', 'reporter'] as const)
    assert.deepEqual([await statuses(people[name]), await listed(people[name])], [[200], 1], name)
  for (const name of ['guest', 'stranger'] as const)
    assert.deepEqual([await statuses(people[name]), await listed(people[name])], [[404], 0], name)
  await set('enabled')
})
