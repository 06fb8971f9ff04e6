import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openWorkshop, type Workshop } from '../../../test/support/merge_makers.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import { newMergeRequest, pushedRefs } from '../../core/pushes/pipeline_requests.ts'
import type { Project } from '../../db/schema/tables.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import { mergeRequestVariables } from './merge_request_facts.ts'
import { createFirstPipeline } from './merge_request_pipelines.ts'
import { createPushPipelines } from './push_pipelines.ts'
import { cancelRedundantPipelines } from './redundant_pipelines.ts'

const world = sharedWorld()
const CHECKS = 'checks:\n  script: make\n  rules: [{ if: $CI_PIPELINE_SOURCE == "merge_request_event" }]\n'
const BRANCH_ONLY = 'build:\n  script: make\n'
/** One pipeline for each push: of the merge request where one is open, else of the branch. */
const SINGLE = `workflow:
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
    - if: $CI_COMMIT_BRANCH && $CI_OPEN_MERGE_REQUESTS
      when: never
    - if: $CI_COMMIT_BRANCH
build:
  script: make
`

const taken = (...names: string[]): Promise<{ name: string; payload: never }[]> =>
  rowsOf<{ name: string; payload: never }>(
    world(),
    `with done as (delete from graphile_worker._private_jobs j using graphile_worker._private_tasks t
       where t.id = j.task_id and t.identifier = any($1) returning j.id, t.identifier as name, j.payload)
     select name, payload from done order by id`,
    [names],
  )
/** Runs the jobs of pushes and of new merge requests that wait in the queue, `times` times each. */
async function work(project: { readonly id: number }, times = 1): Promise<Pipeline[]> {
  const jobs = await taken(pushedRefs.name, newMergeRequest.name)
  const { instance } = world().opened
  for (const { name, payload } of jobs)
    await Promise.all(
      Array.from({ length: name === newMergeRequest.name ? times : 1 }, () =>
        name === newMergeRequest.name
          ? createFirstPipeline.run(instance, payload)
          : createPushPipelines.run(instance, payload),
      ),
    )
  const created = await taken(cancelRedundantPipelines.name)
  for (const { payload } of created) await cancelRedundantPipelines.run(instance, payload)
  return rowsOf<Pipeline>(world(), 'select * from pipelines where project_id = $1 order by id', [project.id])
}
const kinds = (rows: readonly Pipeline[]): unknown[] => rows.map(({ ref, source }) => [ref, source])

async function shopWith(config: string, visibility: 'public' | 'private' = 'private'): Promise<Workshop> {
  const shop = await openWorkshop(world(), visibility)
  await shop.commit('main', { '.gitlab-ci.yml': config })
  await rowsOf(world(), 'delete from graphile_worker._private_jobs')
  return shop
}

test('a merge request gets a pipeline when it is opened and with each push, where a rule asks for one', async () => {
  const shop = await shopWith(CHECKS)
  const iid = await shop.open('topic')
  const first = await shop.tip('topic')
  const ref = `refs/merge-requests/${iid}/head`
  const opened = await work(shop.project, 3)
  assert.deepEqual(kinds(opened), [[ref, 'merge_request_event']])
  assert.deepEqual([opened[0]?.sha, opened[0]?.user_id, opened[0]?.status], [first, shop.owner.id, 'pending'])
  const second = await shop.commit('topic', { more: 'x' })
  const [canceled, pushed, ...rest] = await work(shop.project)
  assert.deepEqual([canceled?.status, pushed?.ref, pushed?.sha, rest.length], ['canceled', ref, second, 0])
  const shown = (await shop.ask('GET', `/${iid}`)).body as { head_pipeline: { id: number } }
  assert.equal(shown.head_pipeline.id, pushed?.id)
  const listed = (await shop.ask('GET', `/${iid}/pipelines`)).body as { id: number }[]
  assert.deepEqual(
    listed.map(({ id }) => id),
    [pushed?.id, canceled?.id],
  )
})

test('jobs without rules run for branches only, and a workflow rule chooses one pipeline for each push', async () => {
  const plain = await shopWith(BRANCH_ONLY)
  await plain.open('topic')
  assert.deepEqual(kinds(await work(plain.project)), [['topic', 'push']])
  const single = await shopWith(SINGLE)
  await single.commit('topic', { a: 'x' })
  assert.deepEqual(kinds(await work(single.project)), [['topic', 'push']])
  const iid = await single.open('topic')
  const ref = `refs/merge-requests/${iid}/head`
  await work(single.project)
  await single.commit('topic', { b: 'x' })
  assert.deepEqual(kinds(await work(single.project)).slice(1), [
    [ref, 'merge_request_event'],
    [ref, 'merge_request_event'],
  ])
})

test('the pipeline of the merge request decides about its merge, whatever a later one of the branch says', async () => {
  const shop = await shopWith(`${CHECKS}build:\n  script: make\n`)
  const iid = await shop.open('topic')
  const rows = await work(shop.project)
  const own = rows.find(({ source }) => source === 'merge_request_event')
  assert.equal(rows.length, 2)
  await rowsOf(world(), "update pipelines set status = 'success' where project_id = $1", [shop.project.id])
  await rowsOf(world(), "update pipelines set status = 'failed' where id = $1", [own?.id])
  const say = { as: shop.owner, body: { state: 'success', ref: 'elsewhere' } }
  await world().call('POST', `/projects/${shop.project.id}/statuses/${await shop.tip('topic')}`, say)
  const shown = (await shop.ask('GET', `/${iid}`)).body as { head_pipeline: { id: number; status: string } }
  assert.deepEqual([shown.head_pipeline.id, shown.head_pipeline.status], [own?.id, 'failed'])
})

test('POST creates another pipeline of the head, and says why there is none', async () => {
  const shop = await shopWith(CHECKS)
  const iid = await shop.open('topic')
  await work(shop.project)
  const made = await shop.ask('POST', `/${iid}/pipelines`)
  const body = made.body as { ref: string; source: string; sha: string; user: { id: number } }
  assert.deepEqual(
    [made.status, body.ref, body.source, body.sha, body.user.id],
    [200, `refs/merge-requests/${iid}/head`, 'merge_request_event', await shop.tip('topic'), shop.owner.id],
  )
  assert.equal((await work(shop.project)).length, 2)
  const bad = await shopWith(BRANCH_ONLY)
  const other = await bad.open('topic')
  const refused = await bad.ask('POST', `/${other}/pipelines`)
  assert.deepEqual(
    [refused.status, refused.body],
    [
      400,
      {
        message: {
          base: [
            'The resulting pipeline would have been empty. Review the rules configuration for the relevant jobs.',
          ],
        },
      },
    ],
  )
  await bad.ask('PUT', `/${other}`, { body: { state_event: 'close' } })
  assert.equal((await bad.ask('POST', `/${other}/pipelines`)).status, 405)
})

test('a protected source branch is for those who may push or merge there', async () => {
  const shop = await shopWith(CHECKS)
  const iid = await shop.open('topic')
  const protect = { as: shop.owner, body: { name: 'topic' } }
  await world().call('POST', `/projects/${shop.project.id}/protected_branches`, protect)
  const developer = await world().make.memberOf('developer', { project: shop.project })
  const answer = await shop.ask('POST', `/${iid}/pipelines`, { as: developer })
  assert.equal(answer.status, 400)
  assert.match(answer.text, /sufficient permission to run a pipeline on 'topic'/)
  assert.equal((await shop.ask('POST', `/${iid}/pipelines`)).status, 200)
})

test('a commit that skips leaves a skipped pipeline of the merge request', async () => {
  const shop = await shopWith(CHECKS)
  const iid = await shop.open('topic')
  await work(shop.project)
  await shop.commit('topic', { more: 'x' }, 'More [skip ci]')
  const rows = (await work(shop.project)).slice(1)
  assert.deepEqual(
    rows.map(({ ref, status }) => [ref, status]),
    [
      ['topic', 'skipped'],
      [`refs/merge-requests/${iid}/head`, 'skipped'],
    ],
  )
})

test('predefined variables tell of the merge request', async () => {
  const shop = await shopWith(CHECKS)
  const body = { title: 'Fix it', description: 'd'.repeat(2_701), labels: 'b,a', squash: true }
  const iid = await shop.open('topic', body)
  const [row] = await work(shop.project)
  assert.ok(row)
  const { instance } = world().opened
  const path = shop.project.full_path
  const values = Object.fromEntries(
    (await mergeRequestVariables(instance, row)).map(({ key, value }) => [key, value]),
  )
  const url = `${instance.config.url}/${path}`
  const { CI_MERGE_REQUEST_ID: id, CI_MERGE_REQUEST_DIFF_ID: diff, ...rest } = values
  assert.equal(Number(id), row.merge_request_id)
  assert.ok(Number(diff) > 0)
  assert.deepEqual(rest, {
    CI_COMMIT_REF_NAME: 'topic',
    CI_COMMIT_REF_SLUG: 'topic',
    CI_MERGE_REQUEST_IID: String(iid),
    CI_MERGE_REQUEST_PROJECT_ID: String(shop.project.id),
    CI_MERGE_REQUEST_PROJECT_PATH: path,
    CI_MERGE_REQUEST_PROJECT_URL: url,
    CI_MERGE_REQUEST_REF_PATH: `refs/merge-requests/${iid}/head`,
    CI_MERGE_REQUEST_TITLE: 'Fix it',
    CI_MERGE_REQUEST_DESCRIPTION: 'd'.repeat(2_700),
    CI_MERGE_REQUEST_DESCRIPTION_IS_TRUNCATED: 'true',
    CI_MERGE_REQUEST_LABELS: 'a,b',
    CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'topic',
    CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: '',
    CI_MERGE_REQUEST_SOURCE_BRANCH_PROTECTED: 'false',
    CI_MERGE_REQUEST_SOURCE_PROJECT_ID: String(shop.project.id),
    CI_MERGE_REQUEST_SOURCE_PROJECT_PATH: path,
    CI_MERGE_REQUEST_SOURCE_PROJECT_URL: url,
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
    CI_MERGE_REQUEST_TARGET_BRANCH_SHA: '',
    CI_MERGE_REQUEST_TARGET_BRANCH_PROTECTED: 'true',
    CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
    CI_MERGE_REQUEST_DIFF_BASE_SHA: await shop.tip('main'),
    CI_MERGE_REQUEST_APPROVED: 'true',
    CI_MERGE_REQUEST_SQUASH_ON_MERGE: 'true',
    CI_OPEN_MERGE_REQUESTS: `${path}!${iid}`,
  })
})

async function forkOf(shop: Workshop, owner: Someone, visibility: 'public' | 'private'): Promise<Project> {
  const fork = await world().make.project({ repository: shop.directory, visibility })
  await world().make.member(owner, 'owner', { project: fork })
  await world().make.sql(
    `update projects set forked_from_project_id = ${shop.project.id} where id = ${fork.id}`,
  )
  const commit = await world().call('POST', `/projects/${fork.id}/repository/commits`, {
    as: owner,
    body: {
      branch: 'topic',
      start_branch: 'main',
      commit_message: 'Write',
      actions: [{ action: 'create', file_path: 'topic', content: 'x' }],
    },
  })
  assert.equal(commit.status, 201, commit.text)
  return fork
}

test('a merge request from a fork runs in the fork, or where its user may create pipelines in the target', async () => {
  const shop = await shopWith(CHECKS, 'public')
  const author = await world().make.user()
  const fork = await forkOf(shop, author, 'private')
  const opened = await world().call('POST', `/projects/${fork.id}/merge_requests`, {
    as: author,
    body: {
      source_branch: 'topic',
      target_branch: 'main',
      title: 'From a fork',
      target_project_id: shop.project.id,
    },
  })
  const { iid } = opened.body as { iid: number }
  const [own, ...more] = await work(fork)
  assert.deepEqual([own?.ref, own?.source, own?.user_id], ['topic', 'merge_request_event', author.id])
  assert.equal(more.length, 0)
  assert.deepEqual(await work(shop.project), [])
  const head = async (as: Someone): Promise<number | undefined> =>
    ((await shop.ask('GET', `/${iid}`, { as })).body as { head_pipeline: { id: number } | null })
      .head_pipeline?.id
  assert.deepEqual([await head(author), await head(shop.owner)], [own?.id, undefined], 'the fork is private')
  const listed = async (as: Someone): Promise<number[]> =>
    ((await shop.ask('GET', `/${iid}/pipelines`, { as })).body as { id: number }[]).map(({ id }) => id)
  assert.deepEqual([await listed(author), await listed(shop.owner)], [[own?.id], []])

  assert.equal((await shop.ask('POST', `/${iid}/pipelines`, { as: author })).status, 403)
  const made = (await shop.ask('POST', `/${iid}/pipelines`)).body as {
    id: number
    project_id: number
    ref: string
  }
  assert.deepEqual([made.project_id, made.ref], [shop.project.id, `refs/merge-requests/${iid}/head`])
  assert.equal(await head(shop.owner), made.id)
})
