import assert from 'node:assert/strict'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { makePipeline, makeRunner, statesOf } from '../../test/support/ci_engine.ts'
import { gitText, scratch, writeHistory } from '../../test/support/git_fixtures.ts'
import type { Someone } from '../../test/support/makers.ts'
import { plannedJob } from '../../test/support/planned_jobs.ts'
import { listen } from '../../test/support/wire.ts'
import { rowOf, rowsOf } from '../../test/support/rows.ts'
import { sharedWorld } from '../../test/support/stand.ts'
import type { Answered } from '../../test/support/world.ts'
import { cancelPipeline } from '../ci/pipeline_actions.ts'
import { inTurn } from '../ci/turn.ts'
import type { PlannedJob } from '../ci/config/plan.ts'
import { environmentSlug } from '../core/delivery/environments.ts'
import { repositoryPath } from '../core/places/projects.ts'
import type { Project } from '../db/schema/tables.ts'
import type { Pipeline } from '../db/schema/repositories.ts'

const world = sharedWorld()
const TOKEN = 'glrt-coordinator'
let project: Project
let user: Someone
let sha: string
before(async () => {
  const { make, opened } = world()
  const source = join(scratch(), 'coordinator.git')
  writeHistory(source, 60, 1)
  project = await make.project({ repository: source })
  user = await make.memberOf('developer', { project })
  sha = gitText(opened.instance.git.directory(repositoryPath(project.id)), ['rev-parse', 'main'])
  await makeRunner(world(), { token: TOKEN, tag_list: ['linux'] })
})

async function pipelineOf(...jobs: PlannedJob[]): Promise<Pipeline> {
  const pipeline = await makePipeline(world(), project, jobs, { user_id: user.id })
  await rowsOf(world(), 'update pipelines set sha = $2 where id = $1', [pipeline.id, sha])
  return pipeline
}
interface Payload {
  readonly id: number
  readonly token: string
  readonly variables: readonly { readonly key: string; readonly value: string; readonly masked: boolean }[]
  readonly git_info: { readonly repo_url: string; readonly refspecs: readonly string[] }
  readonly [key: string]: unknown
}
const post = (path: string, body: object): Promise<Answered> => world().call('POST', path, { body })
const ask = (body: object = {}): Promise<Answered> => post('/jobs/request', { token: TOKEN, ...body })
async function take(): Promise<Payload> {
  const answer = await ask({ system_id: 's_1', info: { version: '17.0', features: {} } })
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Payload
}
const trace = (job: Payload, from: number, text: string, token = job.token): Promise<Answered> =>
  world().call('PATCH', `/jobs/${job.id}/trace`, {
    body: text,
    headers: {
      'content-type': 'text/plain',
      'job-token': token,
      'content-range': `${from}-${from + text.length - 1}`,
    },
  })
const update = (job: Payload, body: object): Promise<Answered> =>
  world().call('PUT', `/jobs/${job.id}`, { body: { token: job.token, ...body } })

test('a runner is verified by its token, and by nothing else', async () => {
  const answer = await post('/runners/verify', { token: TOKEN, system_id: 's_1' })
  assert.equal(answer.status, 200)
  const { token, token_expires_at } = answer.body as Record<string, unknown>
  assert.deepEqual([token, token_expires_at], [TOKEN, null])
  assert.equal((await post('/runners/verify', { token: 'glrt-none' })).status, 403)
  assert.equal((await post('/runners/verify', {})).status, 400)
  assert.equal((await ask({ token: user.token })).status, 403)
})

test('a runner that asks for the first time is told at once that there is nothing', async () => {
  const answer = await ask()
  assert.deepEqual([answer.status, answer.text], [204, ''])
  assert.ok(answer.headers['x-gitlab-last-update'])
})

test('a runner that missed nothing waits, and is given a job as soon as there is one', async () => {
  await world().opened.client.pool.query('select 1')
  const first = await ask()
  const waiting = ask({ last_update: first.headers['x-gitlab-last-update'] })
  await new Promise((resolve) => setTimeout(resolve, 200))
  await pipelineOf(plannedJob({ name: 'quick' }))
  const answer = await waiting
  assert.equal(answer.status, 201, answer.text)
  assert.equal((await update(answer.body as Payload, { state: 'success' })).status, 200)
})

test('a runner that goes away while it waits is given no job', async () => {
  const first = await ask()
  const last_update = first.headers['x-gitlab-last-update']
  const gone = new AbortController()
  const port = await listen(world().app)
  const waiting = fetch(`http://127.0.0.1:${port}/api/v4/jobs/request`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token: TOKEN, last_update }),
    signal: gone.signal,
  })
  await new Promise((resolve) => setTimeout(resolve, 200))
  gone.abort()
  await assert.rejects(waiting)
  await new Promise((resolve) => setTimeout(resolve, 200))
  const pipeline = await pipelineOf(plannedJob({ name: 'unseen' }))
  await new Promise((resolve) => setTimeout(resolve, 200))
  assert.equal(await statesOf(world(), pipeline), 'unseen pending')
  assert.equal((await update(await take(), { state: 'success' })).status, 200)
})

test('a runner that is paused while it waits is given no job', async () => {
  const first = await ask()
  const waiting = ask({ last_update: first.headers['x-gitlab-last-update'] })
  await new Promise((resolve) => setTimeout(resolve, 200))
  await rowsOf(world(), 'update ci_runners set paused = true', [])
  const pipeline = await pipelineOf(plannedJob({ name: 'paused' }))
  assert.equal((await waiting).status, 204)
  assert.equal(await statesOf(world(), pipeline), 'paused pending')
  await rowsOf(world(), 'update ci_runners set paused = false', [])
  assert.equal((await update(await take(), { state: 'success' })).status, 200)
})

test('a job is described as runners read it', async () => {
  await pipelineOf(
    plannedJob({
      name: 'build',
      timeout: 900,
      tags: ['linux'],
      variables: [{ key: 'COLOR', value: 'red' }],
      options: {
        before_script: ['a'],
        script: ['b', 'c'],
        after_script: ['d'],
        artifacts: { paths: ['out/'], expire_in: '1 day' },
        cache: [{ key: 'k', paths: ['v/'] }],
        image: { name: 'alpine' },
      },
    }),
  )
  const job = await take()
  assert.match(job.token, /^glcbt-/)
  assert.deepEqual(job['steps'], [
    { name: 'script', script: ['a', 'b', 'c'], timeout: 900, when: 'on_success', allow_failure: false },
    { name: 'after_script', script: ['d'], timeout: 900, when: 'always', allow_failure: true },
  ])
  assert.deepEqual(job['image'], { name: 'alpine' })
  const value = (key: string): string | undefined =>
    job.variables.findLast((variable) => variable.key === key)?.value
  assert.deepEqual(
    ['COLOR', 'CI_JOB_NAME', 'CI_COMMIT_SHA', 'CI_COMMIT_BRANCH', 'CI_PROJECT_PATH', 'GITLAB_USER_LOGIN'].map(
      value,
    ),
    ['red', 'build', sha, 'main', project.full_path, user.username],
  )
  // The runner sets it for after_script, unless the server does.
  assert.equal(value('CI_JOB_STATUS'), undefined)
  assert.equal(value('CI_JOB_TOKEN'), job.token)
  assert.ok(job.variables.find(({ key }) => key === 'CI_JOB_TOKEN')?.masked)
  assert.equal(
    job.git_info.repo_url,
    `https://gitlab-ci-token:${job.token}@guild.example/${project.full_path}.git`,
  )
  assert.ok(job.git_info.refspecs.includes('+refs/heads/main:refs/remotes/origin/main'))
  await update(job, { state: 'success' })
})

test('a job sees its environment, whose address may hold any of its variables', async () => {
  const environment = {
    name: 'review/1',
    url: 'https://$CI_ENVIRONMENT_SLUG-$CI_JOB_ID-$COLOR.example',
    action: 'start',
    on_stop: null,
    auto_stop_in: null,
    tier: null,
  } as const
  await pipelineOf(
    plannedJob({ name: 'build', environment, variables: [{ key: 'COLOR', value: 'red' }], tags: ['linux'] }),
  )
  const job = await take()
  const values = Object.fromEntries(job.variables.map(({ key, value }) => [key, value]))
  const slug = environmentSlug('review/1')
  assert.deepEqual(
    ['NAME', 'SLUG', 'ACTION', 'TIER'].map((key) => values[`CI_ENVIRONMENT_${key}`]),
    ['review/1', slug, 'start', 'development'],
  )
  await update(job, { state: 'success' })
  const made = await rowOf(world(), 'select external_url, slug from environments where project_id = $1', [
    project.id,
  ])
  assert.deepEqual(made, { external_url: `https://${slug}-${job.id}-red.example`, slug })
})

test('a job sees the variables of its project, and protected ones on protected refs only', async () => {
  const maintainer = await world().make.memberOf('maintainer', { project })
  for (const [key, isProtected] of [
    ['OPEN_KEY', false],
    ['GUARDED', true],
  ] as const) {
    const body = { key, value: 'secret-value', masked: true, protected: isProtected }
    const answer = await world().call('POST', `/projects/${project.id}/variables`, { as: maintainer, body })
    assert.equal(answer.status, 201, answer.text)
  }
  const seen = async (isProtected: boolean): Promise<unknown[]> => {
    const pipeline = await pipelineOf(plannedJob({ name: 'secrets' }))
    await rowsOf(world(), 'update ci_jobs set protected = $2 where pipeline_id = $1', [
      pipeline.id,
      isProtected,
    ])
    const job = await take()
    await update(job, { state: 'success' })
    return job.variables
      .filter(({ value }) => value === 'secret-value')
      .map(({ key, masked }) => [key, masked])
  }
  assert.deepEqual(await seen(false), [['OPEN_KEY', true]])
  assert.deepEqual(await seen(true), [
    ['OPEN_KEY', true],
    ['GUARDED', true],
  ])
})

test('a job that starts during a freeze sees it, and later ones do not', async () => {
  for (const [start, end, seen] of [
    ['0 0 1 1 *', '0 0 30 2 *', 'true'],
    ['0 0 30 2 *', '0 0 1 1 *', undefined],
  ]) {
    await rowsOf(
      world(),
      `insert into freeze_periods (project_id, freeze_start, freeze_end, cron_timezone) values ($1, $2, $3, 'UTC')`,
      [project.id, start, end],
    )
    await pipelineOf(plannedJob({ name: 'build', tags: ['linux'] }))
    const job = await take()
    assert.equal(job.variables.find(({ key }) => key === 'CI_DEPLOY_FREEZE')?.value, seen)
    await update(job, { state: 'success' })
    await rowsOf(world(), 'delete from freeze_periods where project_id = $1', [project.id])
  }
})

test('a log grows by ranges, and a wrong offset is told the right one', async () => {
  const pipeline = await pipelineOf(plannedJob({ name: 'log' }))
  const job = await take()
  const first = await trace(job, 0, 'hello ')
  assert.deepEqual(
    [first.status, first.headers['range'], first.headers['job-status']],
    [202, '0-6', 'running'],
  )
  assert.equal((await trace(job, 6, 'world')).headers['range'], '0-11')
  for (const wrong of [0, 5, 12]) {
    const answer = await trace(job, wrong, 'x')
    assert.deepEqual([answer.status, answer.headers['range']], [416, '0-11'], String(wrong))
  }
  const sum = crc32('hello world').toString(16)
  const output = { checksum: `crc32:${sum}`, bytesize: 11 }
  assert.equal((await update(job, { state: 'success', output: { ...output, bytesize: 12 } })).status, 412)
  assert.equal(
    (await update(job, { state: 'success', output: { ...output, checksum: 'crc32:1' } })).status,
    412,
  )
  assert.equal((await update(job, { state: 'running' })).status, 200)
  assert.equal(await statesOf(world(), pipeline), 'log running')
  assert.equal((await update(job, { state: 'success', output })).status, 200)
  assert.equal(await statesOf(world(), pipeline), 'log success')
})

test('a job that fails keeps its reason and exit code', async () => {
  const pipeline = await pipelineOf(plannedJob({ name: 'fails' }))
  const job = await take()
  await update(job, { state: 'failed', failure_reason: 'script_failure', exit_code: 3 })
  const row = await rowOf(world(), 'select status, failure_reason, exit_code from ci_jobs where id = $1', [
    job.id,
  ])
  assert.deepEqual(row, { status: 'failed', failure_reason: 'script_failure', exit_code: 3 })
  assert.equal(await statesOf(world(), pipeline), 'fails failed')
})

test('a runner hears that its job was canceled, and its token opens nothing more', async () => {
  const pipeline = await pipelineOf(plannedJob({ name: 'canceled' }))
  const job = await take()
  await world().opened.client.transaction((tx) =>
    inTurn(tx, project.id, (turn) => cancelPipeline(turn, pipeline.id)),
  )
  const answer = await trace(job, 0, 'x')
  assert.deepEqual([answer.status, answer.headers['job-status']], [403, 'canceled'])
  assert.equal((await update(job, { state: 'success' })).status, 403)
})

test('a token of one job opens no other', async () => {
  await pipelineOf(plannedJob({ name: 'one' }), plannedJob({ name: 'two' }))
  const [one, two] = [await take(), await take()]
  assert.equal((await trace(one, 0, 'x', two.token)).status, 403)
  assert.equal((await trace(one, 0, 'x', 'glcbt-none')).status, 403)
  assert.equal((await trace({ ...one, id: 987654321 }, 0, 'x')).status, 403)
  for (const job of [one, two]) await update(job, { state: 'success' })
})

test('a job reads the code of its project while it runs, and writes nothing', async () => {
  const other = await world().make.project({ repository: 'empty' })
  await world().make.member(user, 'owner', { project: other })
  await pipelineOf(plannedJob({ name: 'clones' }))
  const job = await take()
  const refs = async (path: string, service: string): Promise<number> =>
    (
      await world().app.inject({
        url: `/${path}.git/info/refs?service=git-${service}`,
        headers: { authorization: `Basic ${Buffer.from(`gitlab-ci-token:${job.token}`).toString('base64')}` },
      })
    ).statusCode
  assert.deepEqual(
    [
      await refs(project.full_path, 'upload-pack'),
      await refs(project.full_path, 'receive-pack'),
      await refs(other.full_path, 'upload-pack'),
    ],
    [200, 403, 404],
  )
  await update(job, { state: 'success' })
  assert.equal(await refs(project.full_path, 'upload-pack'), 401)
})

test('artifacts go up with the token of their job and come down with that of one which depends on it', async () => {
  await pipelineOf(plannedJob({ name: 'makes' }), plannedJob({ name: 'uses', stage_index: 1 }))
  const maker = await take()
  const form = (name: string, bytes: string): string =>
    [
      `--x`,
      `content-disposition: form-data; name="${name}"; filename="artifacts.zip"`,
      '',
      bytes,
      '--x--',
      '',
    ].join('\r\n')
  const upload = (token: string, body = form('file', 'the bytes'), query = ''): Promise<Answered> =>
    world().call('POST', `/jobs/${maker.id}/artifacts${query}`, {
      body,
      headers: { 'content-type': 'multipart/form-data; boundary=x', 'job-token': token },
    })
  assert.equal((await upload('glcbt-none')).status, 403)
  assert.equal((await upload(maker.token, undefined, '?artifact_type=nothing')).status, 400)
  assert.equal((await upload(maker.token, '--x--\r\n')).status, 400)
  const answer = await upload(
    maker.token,
    undefined,
    '?expire_in=1+day&artifact_format=zip&artifact_type=archive',
  )
  assert.equal(answer.status, 201, answer.text)
  await update(maker, { state: 'success' })
  const user = await take()
  assert.deepEqual(user['dependencies'], [
    {
      id: maker.id,
      token: user.token,
      name: 'makes',
      artifacts_file: { filename: 'artifacts.zip', size: 9 },
    },
  ])
  const download = (token: string): Promise<Answered> =>
    world().call('GET', `/jobs/${maker.id}/artifacts`, { headers: { 'job-token': token } })
  const got = await download(user.token)
  assert.deepEqual([got.status, got.text], [200, 'the bytes'])
  assert.equal((await download(maker.token)).status, 403)
  await update(user, { state: 'success' })
})

test('a paused runner gets no job, and one that is removed is none', async () => {
  const token = 'glrt-paused'
  const pipeline = await pipelineOf(plannedJob({ name: 'waits' }))
  await makeRunner(world(), { token, paused: true })
  assert.equal((await ask({ token })).status, 204)
  const gone = await world().call('DELETE', '/runners', { body: { token } })
  assert.equal(gone.status, 204)
  assert.equal((await ask({ token })).status, 403)
  await update(await take(), { state: 'success' })
  assert.equal(await statesOf(world(), pipeline), 'waits success')
})
