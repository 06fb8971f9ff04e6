import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import { AUTO_MERGE } from '../../core/merge_requests/auto_merges.ts'
import { mergeAfterPipeline } from './merging/auto_merge_job.ts'

let shop: Workshop
let maintainer: Someone
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here)
  maintainer = await here.make.memberOf('maintainer', { project: shop.project })
})

const say = async (sha: string, state: string, name = 'ci'): Promise<void> => {
  const path = `/projects/${shop.project.id}/statuses/${sha}`
  const answer = await world().call('POST', path, { as: shop.owner, body: { state, name } })
  assert.equal(answer.status, 201, answer.text)
}
interface Shown {
  readonly id: number
  readonly state: string
  readonly merge_when_pipeline_succeeds: boolean
  readonly merge_user: { readonly id: number } | null
  readonly merged_by: { readonly id: number } | null
  readonly should_remove_source_branch: boolean | null
  readonly squash_commit_sha: string | null
  readonly merge_commit_sha: string | null
}
const get = async (iid: number): Promise<Shown> => (await shop.ask('GET', `/${iid}`)).body as Shown
const merge = async (iid: number, body: object = {}, as = maintainer): Promise<[number, Shown]> => {
  const answer = await shop.ask('PUT', `/${iid}/merge`, { body, as })
  return [answer.status, answer.body as Shown]
}
const waits = async (iid: number): Promise<boolean> => (await get(iid)).merge_when_pipeline_succeeds

/** System notes about automatic merges, oldest first. */
const notes = async (iid: number): Promise<string[]> => {
  const answer = await shop.ask('GET', `/${iid}/notes?sort=asc&per_page=100`)
  return (answer.body as { body: string }[])
    .map(({ body }) => body)
    .filter((text) => /merge$|merge (?:when|because)/.test(text))
}

/** Runs the judgements that wait in the queue, with `times` runs of each at once. Answers how many waited. */
async function judge(times = 1): Promise<number> {
  const jobs = await rowsOf<{ payload: { merge_request_id: number } }>(
    world(),
    `with done as (delete from graphile_worker._private_jobs j using graphile_worker._private_tasks t
       where t.id = j.task_id and t.identifier = $1 returning j.id, j.payload) select payload from done order by id`,
    [AUTO_MERGE.name],
  )
  const runs = jobs.flatMap(({ payload }) => Array.from({ length: times }, () => payload))
  const ends = await Promise.allSettled(
    runs.map((payload) => mergeAfterPipeline.run(world().opened.instance, payload)),
  )
  // A run that meets another one's merge is given back to the queue.
  for (const end of ends) if (end.status === 'rejected') assert.match(String(end.reason), /is being merged/)
  return jobs.length
}

/** A merge request that waits for the check of its head. */
async function waiting(
  branch: string,
  body: object = {},
  as = maintainer,
): Promise<{ iid: number; head: string }> {
  const iid = await shop.open(branch)
  const head = await shop.tip(branch)
  await say(head, 'running')
  const [status] = await merge(iid, { auto_merge: true, ...body }, as)
  assert.equal(status, 200)
  assert.equal(await waits(iid), true)
  return { iid, head }
}
const enabled = (head: string): string => `enabled an automatic merge when the pipeline for ${head} succeeds`
const aborted = (reason: string): string => `aborted the automatic merge because ${reason}`

test('a merge waits for the head pipeline, and is done by its user when the last check succeeds', async () => {
  for (const name of ['auto_merge', 'merge_when_pipeline_succeeds']) {
    const branch = `waits-${name}`
    const iid = await shop.open(branch)
    const head = await shop.tip(branch)
    const tip = await shop.tip('main')
    await say(head, 'pending', 'one')
    await say(head, 'running', 'two')
    const [status, shown] = await merge(iid, { [name]: true })
    assert.deepEqual(
      [status, shown.state, shown.merge_when_pipeline_succeeds, shown.merge_user?.id, shown.merged_by],
      [200, 'opened', true, maintainer.id, null],
    )
    const listed = ((await shop.ask('GET', '?state=opened')).body as Shown[]).find(
      ({ id }) => id === shown.id,
    )
    assert.deepEqual([listed?.merge_when_pipeline_succeeds, listed?.merge_user?.id], [true, maintainer.id])
    await say(head, 'success', 'two')
    assert.equal(await judge(), 0, 'one check is not over')
    assert.equal(await shop.tip('main'), tip)
    await say(head, 'success', 'one')
    assert.equal(await judge(), 1)
    const merged = await get(iid)
    assert.deepEqual(
      [merged.state, merged.merge_when_pipeline_succeeds, merged.merge_user?.id, merged.merged_by?.id],
      ['merged', false, maintainer.id, maintainer.id],
    )
    assert.equal(merged.merge_commit_sha, await shop.tip('main'))
    assert.deepEqual(await notes(iid), [enabled(head)])
  }
})

test('a merge request without a pipeline, or with one that succeeded, is merged at once', async () => {
  assert.equal((await merge(await shop.open('unchecked'), { auto_merge: true }))[1].state, 'merged')
  const iid = await shop.open('checked')
  await say(await shop.tip('checked'), 'success')
  assert.equal((await merge(iid, { auto_merge: true }))[1].state, 'merged')
})

test('a head pipeline that did not succeed is not waited for', async () => {
  const iid = await shop.open('over')
  const head = await shop.tip('over')
  for (const state of ['failed', 'canceled', 'skipped']) {
    await say(head, state, state)
    assert.equal((await merge(iid, { auto_merge: true }))[0], 405, state)
  }
  assert.equal(await waits(iid), false)
})

test('a merge that waits is done as it was asked for, and the newest wish holds', async () => {
  const { iid, head } = await waiting('wished', { squash: false })
  const body = {
    auto_merge: true,
    squash: true,
    should_remove_source_branch: true,
    merge_commit_message: 'In',
    squash_commit_message: 'One',
  }
  const [, shown] = await merge(iid, body, shop.owner)
  assert.deepEqual([shown.should_remove_source_branch, shown.merge_user?.id], [true, shop.owner.id])
  await say(head, 'success')
  await judge()
  const merged = await get(iid)
  assert.equal(merged.merged_by?.id, shop.owner.id)
  const [made, squashed] = await Promise.all(
    [merged.merge_commit_sha, merged.squash_commit_sha].map((sha) => shop.repository.commit(sha ?? '')),
  )
  assert.deepEqual([made?.message, squashed?.message], ['In', 'One'])
  assert.equal(await shop.tip('wished'), '')
  assert.deepEqual(await notes(iid), [enabled(head)])
})

test('another head than the caller saw is 409, and nothing waits', async () => {
  const iid = await shop.open('seen')
  const head = await shop.tip('seen')
  await say(head, 'running')
  const answer = await shop.ask('PUT', `/${iid}/merge`, {
    body: { auto_merge: true, sha: '0'.repeat(40) },
    as: maintainer,
  })
  assert.deepEqual(
    [answer.status, answer.body],
    [409, { message: `SHA does not match HEAD of source branch: ${head}` }],
  )
  assert.equal(await waits(iid), false)
})

test('a pipeline that ends without success gives the merge up', async () => {
  for (const state of ['failed', 'canceled']) {
    const { iid, head } = await waiting(`ends-${state}`)
    await say(head, state)
    assert.equal(await judge(), 1)
    assert.equal(await waits(iid), false, state)
    assert.equal((await get(iid)).state, 'opened')
    assert.deepEqual(await notes(iid), [enabled(head), aborted('pipeline did not succeed')])
    // A later success merges nothing that was given up.
    await say(head, 'success')
    assert.equal(await judge(), 0)
  }
})

test('a change of the merge request gives the merge up at once', async () => {
  await shop.commit('release', { 'release.txt': 'x' })
  const put = (iid: number, body: object): Promise<unknown> => shop.ask('PUT', `/${iid}`, { body })
  const changes: Record<string, [reason: string, (iid: number) => Promise<unknown>]> = {
    closed: ['merge request was closed', (iid) => put(iid, { state_event: 'close' })],
    drafted: ['merge request was marked as draft', (iid) => put(iid, { title: 'Draft: later' })],
    commanded: [
      'merge request was marked as draft',
      (iid) => shop.ask('POST', `/${iid}/notes`, { body: { body: '/draft' } }),
    ],
    targeted: ['target branch was changed', (iid) => put(iid, { target_branch: 'release' })],
    pushed: ['source branch was updated', () => shop.commit('pushed', { more: 'x' })],
  }
  for (const [branch, [reason, change]] of Object.entries(changes)) {
    const { iid, head } = await waiting(branch)
    await change(iid)
    const shown = await get(iid)
    assert.deepEqual([shown.merge_when_pipeline_succeeds, shown.merge_user], [false, null], branch)
    assert.deepEqual(await notes(iid), [enabled(head), aborted(reason)])
    await say(head, 'success')
    assert.equal(await judge(), 0, branch)
  }
})

test('changes that decide nothing about the merge leave it waiting', async () => {
  const { iid, head } = await waiting('steady')
  await shop.ask('PUT', `/${iid}`, { body: { title: 'Another title', description: 'x', labels: 'a' } })
  await shop.commit('main', { 'beside.txt': 'x' })
  assert.equal(await waits(iid), true)
  await say(head, 'success')
  await judge()
  assert.equal((await get(iid)).state, 'merged')
})

test('a target that moved into a conflict gives the merge up when the pipeline succeeds', async () => {
  await shop.commit('clash', { 'same.txt': 'one' })
  const { iid, head } = await waiting('clash')
  await shop.commit('main', { 'same.txt': 'two' })
  await say(head, 'success')
  await judge()
  assert.deepEqual([(await get(iid)).state, await waits(iid)], ['opened', false])
  assert.deepEqual(await notes(iid), [enabled(head), aborted('merge request cannot be merged')])
})

test('the right to merge is judged at the moment of the merge', async () => {
  const { make, call } = world()
  const losses: Record<string, (user: Someone) => Promise<unknown>> = {
    lowered: (user) =>
      call('PUT', `/projects/${shop.project.id}/members/${user.id}`, {
        as: shop.owner,
        body: { access_level: 30 },
      }),
    removed: (user) => call('DELETE', `/projects/${shop.project.id}/members/${user.id}`, { as: shop.owner }),
    blocked: (user) => rowsOf(world(), "update users set state = 'blocked' where id = $1", [user.id]),
  }
  for (const [name, lose] of Object.entries(losses)) {
    const user = await make.memberOf('maintainer', { project: shop.project })
    const { iid, head } = await waiting(`right-${name}`, {}, user)
    const tip = await shop.tip('main')
    await lose(user)
    await say(head, 'success')
    await judge()
    assert.equal(await shop.tip('main'), tip, name)
    assert.deepEqual(await notes(iid), [enabled(head), aborted('user can no longer merge')], name)
  }
  const developer = await make.memberOf('developer', { project: shop.project })
  const iid = await shop.open('refused')
  await say(await shop.tip('refused'), 'running')
  assert.equal((await merge(iid, { auto_merge: true }, developer))[0], 401)
})

test('a merge that waits is canceled by its author or by those who may merge, once', async () => {
  const developer = await world().make.memberOf('developer', { project: shop.project })
  const { iid, head } = await waiting('canceled')
  const cancel = async (as: Someone): Promise<[number, unknown]> => {
    const answer = await shop.ask('POST', `/${iid}/cancel_merge_when_pipeline_succeeds`, { as })
    return [answer.status, answer.body]
  }
  assert.deepEqual(await cancel(developer), [401, { message: '401 Unauthorized' }])
  assert.deepEqual(await cancel(shop.owner), [201, { status: 'success' }])
  assert.deepEqual(await cancel(shop.owner), [
    201,
    { status: 'error', message: "Can't cancel the automatic merge", http_status: 406 },
  ])
  assert.equal(await waits(iid), false)
  assert.deepEqual(await notes(iid), [enabled(head), 'canceled the automatic merge'])
  await say(head, 'success')
  assert.equal(await judge(), 0)
})

test('runs at once merge once, and say nothing of one another', async () => {
  const { iid, head } = await waiting('twice')
  const before = await shop.tip('main')
  await say(head, 'success')
  const [jobs] = await Promise.all([judge(4), merge(iid, {}, shop.owner)])
  assert.equal(jobs, 1)
  const merged = await get(iid)
  assert.equal(merged.state, 'merged')
  const commits = await shop.repository.log({
    from: [await shop.tip('main')],
    exclude: [before],
    skip: 0,
    limit: 9,
  })
  assert.equal(commits.length, 2, 'the merge and what it brought')
  assert.deepEqual(await notes(iid), [enabled(head)])
})

test('a pipeline that succeeds while the merge is asked for leaves nothing waiting', async () => {
  for (let round = 0; round < 4; round += 1) {
    const branch = `race-${round}`
    const iid = await shop.open(branch)
    const head = await shop.tip(branch)
    await say(head, 'running')
    const [[status]] = await Promise.all([merge(iid, { auto_merge: true }), say(head, 'success')])
    assert.equal(status, 200)
    await judge()
    assert.equal((await get(iid)).state, 'merged', `round ${round}`)
  }
})

test('a deleted pipeline gives the merge up', async () => {
  const { iid, head } = await waiting('gone')
  const [pipeline] = (await shop.ask('GET', `/${iid}/pipelines`)).body as { id: number }[]
  const path = `/projects/${shop.project.id}/pipelines/${pipeline?.id}`
  assert.equal((await world().call('DELETE', path, { as: shop.owner })).status, 204)
  assert.equal(await judge(), 1)
  assert.deepEqual(await notes(iid), [enabled(head), aborted('pipeline did not succeed')])
})

test('a comment that merges waits for the pipeline too', async () => {
  const iid = await shop.open('spoken')
  await say(await shop.tip('spoken'), 'running')
  const answer = await shop.ask('POST', `/${iid}/notes`, { body: { body: '/merge' } })
  assert.deepEqual((answer.body as { summary?: string[] }).summary, [
    'Scheduled to merge this merge request (Merge when pipeline succeeds).',
  ])
})
