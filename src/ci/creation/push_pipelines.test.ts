import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { statesOf } from '../../../test/support/ci_engine.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import { pushedRefs, type PushedRefs } from '../../core/pushes/pipeline_requests.ts'
import type { Project } from '../../db/schema/tables.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import { createPushPipelines } from './push_pipelines.ts'
import { cancelRedundantPipelines } from './redundant_pipelines.ts'

const world = sharedWorld()
let user: Someone
before(async () => void (user = await world().make.user()))

type Row = Pipeline & Record<string, unknown>
const CONFIG = 'build:\n  script: make\ntest:\n  stage: test\n  script: make test\n'

async function projectOf(): Promise<Project> {
  const project = await world().make.project({ repository: 'empty' })
  await world().make.member(user, 'maintainer', { project })
  return project
}
interface Commit {
  readonly message?: string
  readonly branch?: string
  readonly action?: string
  readonly start_branch?: string
}
async function commit(project: Project, content: string, given: Commit = {}): Promise<string> {
  const { message = 'Change', branch = 'main', action = 'create', ...rest } = given
  const answer = await world().call('POST', `/projects/${project.id}/repository/commits`, {
    as: user,
    body: {
      branch,
      commit_message: message,
      actions: [{ action, file_path: '.gitlab-ci.yml', content }],
      ...rest,
    },
  })
  assert.equal(answer.status, 201, answer.text)
  return (answer.body as { id: string }).id
}
async function jobsOf<Payload>(name: string): Promise<Payload[]> {
  const jobs = await rowsOf<{ payload: Payload }>(
    world(),
    `with done as (delete from graphile_worker._private_jobs j using graphile_worker._private_tasks t
       where t.id = j.task_id and t.identifier = $1 returning j.id, j.payload) select payload from done order by id`,
    [name],
  )
  return jobs.map(({ payload }) => payload)
}
/** Runs the jobs that pushes have left in the queue, the latest push first where `reversed`. */
async function work(project: Project, reversed = false): Promise<Row[]> {
  const { instance } = world().opened
  const pushed = await jobsOf<PushedRefs>(pushedRefs.name)
  for (const payload of reversed ? pushed.toReversed() : pushed)
    await createPushPipelines.run(instance, payload)
  for (const payload of await jobsOf<{ project_id: number; pipeline_id: number }>(
    cancelRedundantPipelines.name,
  ))
    await cancelRedundantPipelines.run(instance, payload)
  return rowsOf<Row>(world(), 'select * from pipelines where project_id = $1 order by id', [project.id])
}

test('a commit with a configuration creates a pipeline, in the name of who made it', async () => {
  const project = await projectOf()
  const sha = await commit(project, CONFIG)
  const [pipeline, ...more] = await work(project)
  assert.ok(pipeline && more.length === 0)
  const { ref, source, user_id, tag, stages, status, before_sha } = pipeline
  assert.deepEqual(
    [pipeline.sha, ref, source, user_id, tag, stages, status, before_sha],
    [sha, 'main', 'push', user.id, false, ['test'], 'pending', '0'.repeat(40)],
  )
  assert.equal(await statesOf(world(), pipeline), 'build pending, test pending')
})

test('a repository without a configuration asks for nothing', async () => {
  const project = await projectOf()
  const answer = await world().call('POST', `/projects/${project.id}/repository/commits`, {
    as: user,
    body: {
      branch: 'main',
      commit_message: 'Start',
      actions: [{ action: 'create', file_path: 'a', content: 'a' }],
    },
  })
  assert.equal(answer.status, 201)
  assert.deepEqual(await work(project), [])
})

test('a wrong configuration leaves a failed pipeline that says why', async () => {
  const project = await projectOf()
  await commit(project, 'build:\n  stage: nowhere\n  script: make\n')
  const [pipeline] = await work(project)
  assert.deepEqual([pipeline?.status, pipeline?.failure_reason], ['failed', 'config_error'])
  assert.match(pipeline?.yaml_errors ?? '', /^build job: chosen stage nowhere does not exist/)
})

test('a commit that skips leaves a skipped pipeline without jobs', async () => {
  for (const message of ['x [ci skip]', '[SKIP CI] y', 'a\n\n[skip-ci]', '[ci_skip]']) {
    const project = await projectOf()
    await commit(project, CONFIG, { message })
    const [pipeline] = await work(project)
    assert.equal(pipeline?.status, 'skipped', message)
    assert.equal(await statesOf(world(), { id: pipeline?.id ?? 0 }), '')
  }
})

test('a tag gets a pipeline of its own, and a deleted branch none', async () => {
  const project = await projectOf()
  const sha = await commit(project, CONFIG)
  await work(project)
  const tagged = await world().call('POST', `/projects/${project.id}/repository/tags`, {
    as: user,
    query: { tag_name: 'v1', ref: 'main' },
  })
  assert.equal(tagged.status, 201, tagged.text)
  const [, pipeline] = await work(project)
  assert.deepEqual([pipeline?.ref, pipeline?.tag, pipeline?.sha], ['v1', true, sha])
  await world().call('DELETE', `/projects/${project.id}/repository/tags/v1`, { as: user })
  assert.equal((await work(project)).length, 2)
})

test('a newer commit cancels the pipeline of the older one', async () => {
  const project = await projectOf()
  await commit(project, CONFIG)
  await work(project)
  await commit(project, `${CONFIG}# more\n`, { action: 'update' })
  const [older, newer] = await work(project)
  assert.deepEqual([older?.status, newer?.status], ['canceled', 'pending'])
  assert.equal(older?.auto_canceled_by_id, newer?.id)
})

test('pushes that are handled in the wrong order cancel the older pipeline, and never that of the head', async () => {
  const project = await projectOf()
  const older = await commit(project, CONFIG)
  const head = await commit(project, `${CONFIG}# more\n`, { action: 'update' })
  const shas = (rows: readonly Row[]): unknown[] => rows.map(({ sha, status }) => [sha, status])
  assert.deepEqual(shas(await work(project, true)), [
    [head, 'pending'],
    [older, 'pending'],
  ])
  const newest = await commit(project, `${CONFIG}# still more\n`, { action: 'update' })
  assert.deepEqual(shas(await work(project)), [
    [head, 'canceled'],
    [older, 'canceled'],
    [newest, 'pending'],
  ])
})

test('rules see which paths a push changes', async () => {
  const project = await projectOf()
  const config =
    'docs:\n  script: make\n  rules:\n    - changes: [docs/**/*]\nall:\n  script: make\n  rules: [{ when: on_success }]\n'
  await commit(project, config)
  const [first] = await work(project)
  assert.equal(await statesOf(world(), { id: first?.id ?? 0 }), 'docs pending, all pending')
  await commit(project, `${config}# more\n`, { action: 'update' })
  const [, second] = await work(project)
  assert.equal(await statesOf(world(), { id: second?.id ?? 0 }), 'all pending')
})

test('rules that select no job leave no pipeline', async () => {
  const project = await projectOf()
  await commit(project, 'build:\n  script: make\n  rules: [{ when: never }]\n')
  assert.deepEqual(await work(project), [])
})
