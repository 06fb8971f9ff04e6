import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let shop: Workshop
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here, 'public')
})

const set = async (body: object): Promise<void> => {
  const answer = await world().call('PUT', `/projects/${shop.project.id}`, { as: shop.owner, body })
  assert.equal(answer.status, 200, answer.text)
}
const say = async (sha: string, state: string, name = 'ci'): Promise<void> => {
  const path = `/projects/${shop.project.id}/statuses/${sha}`
  const answer = await world().call('POST', path, { as: shop.owner, body: { state, name } })
  assert.equal(answer.status, 201, answer.text)
}
interface Ran {
  readonly sha: string
  readonly status: string
}
interface Shown {
  readonly iid: number
  readonly detailed_merge_status: string
  readonly merge_status: string
  readonly head_pipeline: Ran | null
  readonly pipeline: Ran | null
}
const get = async (iid: number, as: Someone = shop.owner): Promise<Shown> =>
  (await shop.ask('GET', `/${iid}`, { as })).body as Shown
const list = async (): Promise<Shown[]> => (await shop.ask('GET')).body as Shown[]
const merge = async (iid: number, body: object = {}): Promise<number> =>
  (await shop.ask('PUT', `/${iid}/merge`, { body })).status

/** The status in the single record, in the list and in an attempt to merge. */
const saying = async (iid: number): Promise<unknown[]> => {
  const tip = await shop.tip('main')
  const one = await get(iid)
  const listed = (await list()).find((other) => other.iid === iid)
  assert.equal(listed?.detailed_merge_status, one.detailed_merge_status)
  assert.equal(one.merge_status, 'can_be_merged')
  const status = await merge(iid)
  assert.equal(await shop.tip('main'), tip, 'nothing was merged')
  return [one.detailed_merge_status, status]
}
const MUST = ['ci_must_pass', 405]
const RUNS = ['ci_still_running', 405]

test('where pipelines must succeed nothing is merged before the newest of the head has', async () => {
  const iid = await shop.open('checked')
  await set({ only_allow_merge_if_pipeline_succeeds: true })
  const first = await shop.tip('checked')
  assert.deepEqual(await saying(iid), MUST, 'nothing ran')
  for (const [state, expected] of [
    ['pending', RUNS],
    ['running', RUNS],
    ['failed', MUST],
    ['canceled', MUST],
    ['skipped', MUST],
  ] as const) {
    await say(first, state)
    assert.deepEqual(await saying(iid), expected, state)
  }
  await say(first, 'success')
  assert.equal((await get(iid)).detailed_merge_status, 'mergeable')

  await shop.commit('checked', { more: 'x' })
  assert.deepEqual(await saying(iid), MUST, 'nothing ran for what is merged now')
  const head = await shop.tip('checked')
  await say(head, 'success')
  await say(head, 'failed', 'other')
  assert.deepEqual(await saying(iid), MUST, 'one of its jobs failed')
  await say(head, 'success', 'other')
  assert.equal(await merge(iid), 200)
  await set({ only_allow_merge_if_pipeline_succeeds: false })
})

test('skipped pipelines count where the project allows it, and none is required by default', async () => {
  const [iid, other] = [await shop.open('skipped'), await shop.open('failed')]
  await say(await shop.tip('skipped'), 'skipped')
  await say(await shop.tip('failed'), 'failed')
  assert.equal((await get(other)).detailed_merge_status, 'mergeable')
  await set({ only_allow_merge_if_pipeline_succeeds: true, allow_merge_on_skipped_pipeline: true })
  assert.deepEqual(await saying(other), MUST)
  assert.equal(await merge(iid), 200)
  await set({ only_allow_merge_if_pipeline_succeeds: false, allow_merge_on_skipped_pipeline: false })
  assert.equal(await merge(other), 200)
})

test('a pipeline of an older commit does not allow the merge of a newer one', async () => {
  const iid = await shop.open('overtaken')
  const seen = await shop.tip('overtaken')
  await say(seen, 'success')
  await set({ only_allow_merge_if_pipeline_succeeds: true })
  const later = await shop.commit('overtaken-later', { later: 'x' })
  // Past the rows, which hear of it by and by: they still know the head that succeeded.
  await shop.repository.moveRefs([{ ref: 'refs/heads/overtaken', from: seen, to: later }])
  assert.equal((await get(iid)).detailed_merge_status, 'mergeable')
  assert.equal(await merge(iid), 405)
  assert.equal(await merge(iid, { auto_merge: true }), 405)
  await set({ only_allow_merge_if_pipeline_succeeds: false })
})

test('a merge request shows the newest pipeline of its head, to who sees any', async () => {
  const iid = await shop.open('shown')
  assert.deepEqual([(await get(iid)).head_pipeline, (await get(iid)).pipeline], [null, null])
  const head = await shop.tip('shown')
  await say(head, 'running')
  const [newest] = (await shop.ask('GET', `/${iid}/pipelines`)).body as Ran[]
  assert.deepEqual([newest?.sha, newest?.status], [head, 'running'])
  const stranger = await world().make.user()
  for (const as of [shop.owner, stranger]) {
    const { head_pipeline, pipeline } = await get(iid, as)
    assert.deepEqual([head_pipeline, pipeline], [newest, newest])
  }
  assert.ok((await list()).every((one) => !('head_pipeline' in one) && !('pipeline' in one)))
  await set({ public_jobs: false })
  const hidden = await get(iid, stranger)
  assert.deepEqual([hidden.head_pipeline, hidden.pipeline], [null, null])
  assert.deepEqual((await get(iid)).head_pipeline, newest)
  await set({ public_jobs: true })
})

test('a list takes as many statements where pipelines must succeed as where none need', async () => {
  const count = async (): Promise<number> => (await world().statements(list)).length
  await count()
  const before = await count()
  await set({ only_allow_merge_if_pipeline_succeeds: true })
  await count()
  assert.equal(await count(), before)
  await set({ only_allow_merge_if_pipeline_succeeds: false })
})
