import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reconcileMarked } from '../../core/pushes/reconciler.ts'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'

let shop: Workshop
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here)
})

interface Shown {
  readonly iid: number
  readonly target_branch: string
  readonly detailed_merge_status: string
  readonly changes_count: string
  readonly diff_refs: { readonly base_sha: string; readonly start_sha: string }
}
const get = async (iid: number): Promise<Shown> => (await shop.ask('GET', `/${iid}`)).body as Shown
const listed = async (iid: number): Promise<Shown | undefined> =>
  ((await shop.ask('GET', '?per_page=100')).body as Shown[]).find((one) => one.iid === iid)
const merge = async (iid: number, removes = true): Promise<void> => {
  const answer = await shop.ask('PUT', `/${iid}/merge`, { body: { should_remove_source_branch: removes } })
  assert.equal(answer.status, 200, answer.text)
}
/** A merge request of a branch that starts from another, into that one. */
const stack = async (branch: string, on: string): Promise<number> => {
  const to = await shop.tip(on)
  await shop.repository.moveRefs([{ ref: `refs/heads/${branch}`, from: undefined, to }])
  await shop.commit(branch, { [`${branch}.txt`]: branch })
  return shop.open(branch, { target_branch: on })
}
const sentences = async (iid: number): Promise<unknown[]> =>
  ((await shop.ask('GET', `/${iid}/notes`)).body as { body: string; author: { username: string } }[]).map(
    ({ body, author }) => [body, author.username],
  )

test('merge requests are retargeted and compared again when their target branch is deleted by a merge', async () => {
  const first = await shop.open('one')
  const [second, third] = [await stack('two', 'one'), await stack('three', 'two')]
  await shop.commit('main', { 'meanwhile.txt': 'x' })
  await merge(first)
  const now = await get(second)
  assert.deepEqual(
    [now.target_branch, now.detailed_merge_status, now.changes_count],
    ['main', 'mergeable', '1'],
  )
  assert.equal(now.diff_refs.start_sha, await shop.tip('main'))
  assert.equal((await listed(second))?.detailed_merge_status, 'mergeable')
  assert.deepEqual(await sentences(second), [
    ['deleted the `one` branch. This merge request now targets the `main` branch', shop.owner.username],
  ])
  assert.equal(((await shop.ask('GET', `/${second}/versions`)).body as unknown[]).length, 2)
  assert.equal((await get(third)).target_branch, 'two')
  await merge(second)
  assert.equal((await get(third)).target_branch, 'main')
  await merge(third)
})

test('where the branch stays, what goes into it does too', async () => {
  const first = await shop.open('staying')
  const second = await stack('upon-staying', 'staying')
  await merge(first, false)
  const { target_branch, detailed_merge_status } = await get(second)
  assert.deepEqual([target_branch, detailed_merge_status], ['staying', 'mergeable'])
  assert.deepEqual(await sentences(second), [])
})

test('four are led on, and none to where another brings the same', async () => {
  const first = await shop.open('wide')
  const iids: number[] = []
  for (let i = 0; i < 6; i += 1) iids.push(await stack(`wide-${i}`, 'wide'))
  const twin = await shop.open('wide-1')
  await merge(first)
  const shown = await Promise.all(iids.map(get))
  assert.deepEqual(
    shown.map((one) => [one.target_branch, one.detailed_merge_status]),
    [
      ['main', 'mergeable'],
      ['wide', 'commits_status'],
      ['main', 'mergeable'],
      ['main', 'mergeable'],
      ['main', 'mergeable'],
      ['wide', 'commits_status'],
    ],
  )
  assert.equal((await get(twin)).target_branch, 'main')
})

test('retargeting continues after a crash', async () => {
  const { make, opened } = world()
  const first = await shop.open('crashed')
  const second = await stack('upon-crashed', 'crashed')
  await merge(first)
  // As if the process had died behind the move, before any row heard of it, and others had pushed since.
  const { id, merge_commit_sha: sha } = (
    await rowsOf<{ id: number; merge_commit_sha: string }>(
      world(),
      'select id, merge_commit_sha from merge_requests where project_id = $1 and iid = $2',
      [shop.project.id, first],
    )
  )[0] ?? { id: 0, merge_commit_sha: '' }
  await make.sql(`
    update merge_requests set state = 'opened', merged_at = null, merged_by_id = null, merge_commit_sha = null
     where id = ${id};
    insert into merge_request_merges (merge_request_id, commit_sha, merge_commit_sha, user_id)
    values (${id}, '${sha}', '${sha}', ${shop.owner.id});
    update merge_requests set target_branch = 'crashed' where project_id = ${shop.project.id} and iid = ${second}`)
  const from = await shop.tip('upon-crashed')
  const to = await shop.commit('later', { later: 'x' })
  await shop.repository.moveRefs([{ ref: 'refs/heads/upon-crashed', from, to }])
  const mark = { file: '/dev/null/none', projectId: shop.project.id, first: false, since: new Date() }
  assert.deepEqual(await reconcileMarked(opened.instance, [mark], false), [])
  const { target_branch, detailed_merge_status } = await get(second)
  assert.deepEqual([target_branch, detailed_merge_status], ['main', 'mergeable'])
  assert.equal((await listed(second))?.detailed_merge_status, 'mergeable')
})
