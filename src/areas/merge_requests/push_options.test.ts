import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import { createPushPipelines } from '../../ci/creation/push_pipelines.ts'
import { AUTO_MERGE } from '../../core/merge_requests/auto_merges.ts'
import { pushedOptions, pushedRefs } from '../../core/pushes/pipeline_requests.ts'
import { sealOptions } from '../../core/pushes/options.ts'
import { movingRefs } from '../../core/pushes/pushes.ts'
import { mergeAfterPipeline } from './merging/auto_merge_job.ts'
import { applyPushOptions } from './merging/push_options_job.ts'

let shop: Workshop
let developer: Someone
const world = sharedWorld(async (here) => {
  shop = await openWorkshop(here)
  developer = await here.make.memberOf('developer', { project: shop.project })
})

const queued: string[] = []
/** Runs what pushes have left in the queue until nothing is left of it. */
async function work(): Promise<void> {
  const { instance } = world().opened
  const jobs = [createPushPipelines, applyPushOptions, mergeAfterPipeline]
  for (;;) {
    const found = await rowsOf<{ name: string; payload: never }>(
      world(),
      `with done as (delete from graphile_worker._private_jobs j using graphile_worker._private_tasks t
         where t.id = j.task_id and t.identifier = any($1) returning j.id, t.identifier as name, j.payload)
       select name, payload from done order by id`,
      [[pushedRefs.name, pushedOptions.name, AUTO_MERGE.name]],
    )
    if (found.length === 0) return
    queued.push(...found.map(({ payload }) => JSON.stringify(payload)))
    for (const { name, payload } of found) await jobs.find((job) => job.name === name)?.run(instance, payload)
  }
}

/** Moves a branch as a push with options does. */
async function push(branch: string, options: readonly string[], as = developer): Promise<string> {
  const { instance } = world().opened
  const ref = `refs/heads/${branch}`
  const before = (await shop.tip(branch)) || undefined
  const scratch = `${branch}-scratch`
  if (before !== undefined)
    await shop.repository.moveRefs([{ ref: `refs/heads/${scratch}`, from: undefined, to: before }])
  const to = await shop.commit(scratch, { [`${branch}.txt`]: `${Math.random()}` }, 'Fix it\n\nAt last.')
  await shop.repository.moveRefs([{ ref: `refs/heads/${scratch}`, from: to, to: undefined }])
  const moves = [{ ref, from: before, to }]
  await movingRefs(
    { ...instance, actor: as, options: sealOptions(instance.vault.seal, options) },
    shop.project,
    false,
    async () => {
      await shop.repository.moveRefs(moves)
      return { result: undefined, moves }
    },
  )
  await work()
  return to
}
interface Shown {
  readonly iid: number
  readonly [field: string]: unknown
}
const openOf = async (branch: string): Promise<Shown[]> =>
  (await shop.ask('GET', `?state=opened&source_branch=${branch}`)).body as Shown[]
const namesOf = (people: unknown): string[] =>
  (people as { username: string }[]).map(({ username }) => username)

test('a push opens a merge request as its options say', async () => {
  await shop.commit('release', { 'release.txt': 'x' })
  const milestone = { as: shop.owner, body: { title: 'One' } }
  await world().call('POST', `/projects/${shop.project.id}/milestones`, milestone)
  const options = [
    'create',
    'target=release',
    'title=A = B',
    'description=Why',
    'draft',
    'squash',
    'remove_source_branch',
    'label=a',
    'label=b',
    `assign=${developer.username}`,
    'milestone=One',
  ].map((option) => `merge_request.${option}`)
  const head = await push('full', options)
  const [made, ...more] = await openOf('full')
  assert.ok(made && more.length === 0)
  assert.deepEqual(
    [made['title'], made['description'], made['target_branch'], made['sha'], made['draft'], made['squash']],
    ['Draft: A = B', 'Why', 'release', head, true, true],
  )
  assert.deepEqual(
    [made['labels'], namesOf(made['assignees']), made['force_remove_source_branch']],
    [['a', 'b'], [developer.username], true],
  )
  assert.equal((made['milestone'] as { title: string }).title, 'One')
  assert.deepEqual(namesOf([made['author']]), [developer.username])
})

test('title and description of a new merge request are those of its only commit', async () => {
  await push('plain', ['merge_request.create'])
  const [made] = await openOf('plain')
  assert.deepEqual(
    [made?.['title'], made?.['description'], made?.['target_branch'], made?.['draft']],
    ['Fix it', 'At last.', 'main', false],
  )
})

test('a later push changes the merge request that there is, and creates no other', async () => {
  await push('again', [
    'merge_request.create',
    'merge_request.label=a',
    `merge_request.assign=${developer.id}`,
  ])
  await push('again', [
    'merge_request.create',
    'merge_request.title=Better',
    'merge_request.label=b',
    'merge_request.unlabel=a',
    `merge_request.unassign=${developer.username}`,
  ])
  const [now, ...more] = await openOf('again')
  assert.equal(more.length, 0)
  assert.deepEqual([now?.['title'], now?.['labels'], now?.['assignees']], ['Better', ['b'], []])
})

test('options without create open nothing, and a refused one leaves the push as it is', async () => {
  await push('silent', ['merge_request.title=x'])
  const head = await push('nowhere', ['merge_request.create', 'merge_request.target=nowhere'])
  assert.deepEqual([await openOf('silent'), await openOf('nowhere')], [[], []])
  assert.equal(await shop.tip('nowhere'), head)
})

test('a pushed automatic merge waits for what reports on its head, and asks for the right to merge', async () => {
  const say = (sha: string, state: string): Promise<unknown> =>
    world().call('POST', `/projects/${shop.project.id}/statuses/${sha}`, { as: shop.owner, body: { state } })
  for (const name of ['auto_merge', 'merge_when_pipeline_succeeds']) {
    const branch = `later-${name.slice(0, 5)}`
    const head = await push(branch, ['merge_request.create', `merge_request.${name}`], shop.owner)
    assert.equal((await openOf(branch))[0]?.['merge_when_pipeline_succeeds'], true)
    await say(head, 'running')
    await work()
    await say(head, 'success')
    await work()
    assert.deepEqual(await openOf(branch), [])
    assert.ok(await shop.repository.isAncestor(head, await shop.tip('main')))
  }
  await push('refused', ['merge_request.create', 'merge_request.auto_merge'])
  assert.equal((await openOf('refused'))[0]?.['merge_when_pipeline_succeeds'], false)
})

test('options of pipelines skip them, leave them out and give them variables', async () => {
  await shop.commit('main', {
    '.gitlab-ci.yml': 'build:\n  script: make\n  rules: [{ if: $DEPLOY == "yes" }]\n',
  })
  await work()
  const pipelines = async (sha: string): Promise<string[]> => {
    const answer = await world().get(`/projects/${shop.project.id}/pipelines?sha=${sha}`, shop.owner)
    return (answer.body as { status: string }[]).map(({ status }) => status)
  }
  queued.length = 0
  const secret = 'ci.variable=KEY=a value of the pusher'
  assert.deepEqual(await pipelines(await push('one', ['ci.variable=DEPLOY=yes', secret])), ['pending'])
  assert.ok(queued.length > 0)
  assert.doesNotMatch(queued.join('\n'), /a value of the pusher/)
  assert.deepEqual(await pipelines(await push('two', ['ci.variable=DEPLOY=no'])), [])
  assert.deepEqual(await pipelines(await push('three', ['ci.skip', 'ci.variable=DEPLOY=yes'])), ['skipped'])
  assert.deepEqual(await pipelines(await push('four', ['ci.no_pipeline', 'ci.variable=DEPLOY=yes'])), [])
})
