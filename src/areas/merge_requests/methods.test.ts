import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let shop: Workshop
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here)
})

const mergeBy = async (merge_method: string): Promise<void> => {
  const path = `/projects/${shop.project.id}`
  const answer = await world().call('PUT', path, { as: shop.owner, body: { merge_method } })
  assert.equal(answer.status, 200, answer.text)
}
interface Shown {
  readonly iid: number
  readonly merge_status: string
  readonly detailed_merge_status: string
  readonly has_conflicts: boolean
}
const words = (one: Shown | undefined): unknown[] => [
  one?.merge_status,
  one?.detailed_merge_status,
  one?.has_conflicts,
]
const got = async (iid: number): Promise<unknown[]> => words((await shop.ask('GET', `/${iid}`)).body as Shown)
const listed = async (iid: number): Promise<unknown[]> =>
  words(((await shop.ask('GET')).body as Shown[]).find((one) => one.iid === iid))

const MERGEABLE = ['can_be_merged', 'mergeable', false]
const BEHIND = ['can_be_merged', 'need_rebase', false]
const UNCHECKED = ['unchecked', 'unchecked', false]

for (const method of ['ff', 'rebase_merge'])
  test(`where ${method} merges, what its target has left behind needs a rebase, and says so`, async () => {
    const iid = await shop.open(`behind-${method}`)
    await mergeBy(method)
    assert.deepEqual([await got(iid), await listed(iid)], [MERGEABLE, MERGEABLE])
    await shop.commit('main', { [`${method}.txt`]: 'x' })
    assert.deepEqual([await got(iid), await listed(iid)], [BEHIND, UNCHECKED])
    const refused = await shop.ask('PUT', `/${iid}/merge`)
    assert.deepEqual([refused.status, refused.body], [422, { message: 'Branch cannot be merged' }])

    // A further commit has it compared anew: lists know it from then on, without asking git.
    await shop.commit(`behind-${method}`, { 'more.txt': method })
    assert.deepEqual([await got(iid), await listed(iid)], [BEHIND, BEHIND])
    await mergeBy('merge')
    assert.deepEqual([await got(iid), await listed(iid)], [MERGEABLE, MERGEABLE])
    await mergeBy(method)

    assert.equal((await shop.ask('PUT', `/${iid}/rebase`)).status, 202)
    assert.deepEqual([await got(iid), await listed(iid)], [MERGEABLE, MERGEABLE])
    assert.equal((await shop.ask('PUT', `/${iid}/merge`)).status, 200)
    await mergeBy('merge')
  })

test('lists know it of what was compared with another target, too', async () => {
  const { repository } = shop
  const from = await shop.tip('main')
  await repository.moveRefs([{ ref: 'refs/heads/kept', from: undefined, to: from }])
  const iid = await shop.open('turned')
  await shop.commit('main', { 'ahead.txt': 'x' })
  await mergeBy('ff')
  for (const [target_branch, expected] of [
    ['kept', MERGEABLE],
    ['main', BEHIND],
    ['kept', MERGEABLE],
  ] as const) {
    await shop.ask('PUT', `/${iid}`, { body: { target_branch } })
    assert.deepEqual([await got(iid), await listed(iid)], [expected, expected], target_branch)
  }
  // Reopened it is compared with what the target has become while it was closed.
  await shop.ask('PUT', `/${iid}`, { body: { state_event: 'close' } })
  await shop.commit('kept', { 'kept.txt': 'x' })
  await shop.ask('PUT', `/${iid}`, { body: { state_event: 'reopen' } })
  assert.deepEqual([await got(iid), await listed(iid)], [BEHIND, BEHIND])
  await mergeBy('merge')
})
