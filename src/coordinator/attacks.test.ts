import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { makePipeline, makeRunner, statesOf } from '../../test/support/ci_engine.ts'
import { join } from 'node:path'
import { gitText, scratch, writeHistory } from '../../test/support/git_fixtures.ts'
import type { Someone } from '../../test/support/makers.ts'
import { plannedJob } from '../../test/support/planned_jobs.ts'
import { rowOf, rowsOf } from '../../test/support/rows.ts'
import { sharedWorld } from '../../test/support/stand.ts'
import type { Answered } from '../../test/support/world.ts'
import { keepArtifact } from '../ci/jobs/artifacts.ts'
import { deletePipeline } from '../ci/pipeline_actions.ts'
import { inTurn } from '../ci/turn.ts'
import { repositoryPath } from '../core/places/projects.ts'
import type { Project } from '../db/schema/tables.ts'
import type { Pipeline } from '../db/schema/repositories.ts'

const world = sharedWorld()
let project: Project
let other: Project
let user: Someone
let sha: string
before(async () => {
  const { make, opened } = world()
  const source = join(scratch(), 'attacks.git')
  writeHistory(source, 61, 1)
  project = await make.project({ repository: source })
  other = await make.project({ repository: source })
  user = await make.memberOf('developer', { project })
  await make.member(user, 'developer', { project: other })
  sha = gitText(opened.instance.git.directory(repositoryPath(project.id)), ['rev-parse', 'main'])
})

interface Taken {
  readonly id: number
  readonly token: string
}
/** A runner of the project alone, so that other files' jobs are none of its. */
async function runnerOf(of: Project, token: string): Promise<string> {
  const { id } = await makeRunner(world(), { token, runner_type: 'project_type' })
  await rowsOf(world(), 'insert into ci_runner_projects (runner_id, project_id) values ($1, $2)', [id, of.id])
  return token
}
async function pipelineIn(of: Project, ...names: string[]): Promise<Pipeline> {
  const jobs = names.map((name) => plannedJob({ name }))
  const pipeline = await makePipeline(world(), of, jobs, { user_id: user.id })
  await rowsOf(world(), 'update pipelines set sha = $2 where id = $1', [pipeline.id, sha])
  return pipeline
}
const ask = (token: string): Promise<Answered> => world().call('POST', '/jobs/request', { body: { token } })
async function take(of: Project, name = 'job'): Promise<Taken> {
  await pipelineIn(of, name)
  const answer = await ask(await runnerOf(of, `glrt-${Math.random()}`))
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Taken
}
const finish = (job: Taken, body: object = { state: 'success' }): Promise<Answered> =>
  world().call('PUT', `/jobs/${job.id}`, { body: { token: job.token, ...body } })
const upload = ({ id }: Taken, token: string, name = 'a.zip'): Promise<Answered> =>
  world().call('POST', `/jobs/${id}/artifacts`, {
    body: `--x\r\ncontent-disposition: form-data; name="file"; filename="${name}"\r\n\r\nbytes\r\n--x--\r\n`,
    headers: { 'content-type': 'multipart/form-data; boundary=x', 'job-token': token },
  })
const trace = ({ id, token }: Taken, range: string, body: string): Promise<Answered> =>
  world().call('PATCH', `/jobs/${id}/trace`, {
    body,
    headers: { 'content-type': 'text/plain', 'job-token': token, 'content-range': range },
  })

test('a job token of another project reads and writes nothing of a job', async () => {
  const [mine, theirs] = [await take(project), await take(other)]
  assert.equal((await upload(theirs, theirs.token)).status, 201)
  const read = (path: string): Promise<Answered> =>
    world().call('GET', path, { headers: { 'job-token': mine.token } })
  assert.equal((await upload(theirs, mine.token)).status, 403)
  assert.equal((await read(`/jobs/${theirs.id}/artifacts`)).status, 404)
  assert.equal((await read(`/projects/${other.id}/jobs/${theirs.id}/artifacts`)).status, 404)
  for (const job of [mine, theirs]) assert.equal((await finish(job)).status, 200)
})

test('a job that is over takes neither log nor artifacts, not even those whose upload began before', async () => {
  const job = await take(project)
  assert.equal((await trace(job, '0-1', 'ab')).status, 202)
  assert.equal((await finish(job)).status, 200)
  assert.equal((await trace(job, '2-3', 'cd')).status, 403)
  assert.equal((await upload(job, job.token)).status, 403)
  const late = { job_id: job.id, project_id: project.id, file_type: 'archive', file_format: 'zip' }
  const file = { ...late, filename: 'a.zip', size: 5, sha256: 'a'.repeat(64), expires_in: null, dotenv: null }
  assert.equal(await keepArtifact(world().opened.client, file), false)
})

test('a job whose pipeline was deleted takes nothing more, and its token opens nothing', async () => {
  const job = await take(project)
  const { pipeline_id } = await rowOf<{ pipeline_id: number }>(
    world(),
    'select pipeline_id from ci_jobs where id = $1',
    [job.id],
  )
  await world().opened.client.transaction((tx) =>
    inTurn(tx, project.id, (turn) => deletePipeline(turn, pipeline_id)),
  )
  const answers = [await trace(job, '0-1', 'ab'), await upload(job, job.token), await finish(job)]
  assert.deepEqual(
    answers.map(({ status }) => status),
    [403, 403, 403],
  )
})

test('ranges that lie move nothing', async () => {
  const job = await take(project)
  assert.equal((await trace(job, '0-999', 'ab')).headers['range'], '0-2')
  for (const range of ['999999999999-999999999999', '1-0', '104857600-104857601']) {
    const answer = await trace(job, range, 'x')
    assert.deepEqual([answer.status, answer.headers['range']], [416, '0-2'], range)
  }
  for (const range of ['x', '-1-2', '1', '9999999999999-1'])
    assert.equal((await trace(job, range, 'x')).status, 400, range)
  assert.equal((await finish(job)).status, 200)
  const { trace_size } = await rowOf<{ trace_size: number }>(
    world(),
    'select trace_size from ci_jobs where id = $1',
    [job.id],
  )
  assert.equal(trace_size, 2)
})

test('odd outcomes of a job are no reason to fail', async () => {
  const rows: [object, [string | null, number | null]][] = [
    [{ failure_reason: 'x'.repeat(10_000), exit_code: 2 ** 40 }, ['unknown_failure', null]],
    [{ failure_reason: { a: 1 }, exit_code: '7' }, ['unknown_failure', null]],
    [{ failure_reason: 'script_failure', exit_code: -1 }, ['script_failure', -1]],
  ]
  for (const [body, expected] of rows) {
    const job = await take(project)
    assert.equal((await finish(job, { state: 'failed', ...body })).status, 200)
    const row = await rowOf<{ failure_reason: string; exit_code: number | null }>(
      world(),
      'select failure_reason, exit_code from ci_jobs where id = $1',
      [job.id],
    )
    assert.deepEqual([row.failure_reason, row.exit_code], expected)
  }
})

test('an archive with a name in any script comes down', async () => {
  const job = await take(project)
  assert.equal((await upload(job, job.token, 'ünï→\u0001.zip')).status, 201)
  const got = await world().call('GET', `/jobs/${job.id}/artifacts`, { headers: { 'job-token': job.token } })
  assert.deepEqual([got.status, got.text], [200, 'bytes'])
  assert.equal((await finish(job)).status, 200)
})

test('the storage of a plan holds artifacts and logs, and takes no more than it has', async () => {
  const { make } = world()
  const admin = await make.admin()
  const limit = (storage_size_limit: number): Promise<Answered> =>
    world().call('PUT', '/application/plan_limits', {
      as: admin,
      body: { plan_name: 'default', storage_size_limit },
    })
  const stored = async (): Promise<number> =>
    (
      await rowsOf<{ artifacts_size: number }>(
        world(),
        'select artifacts_size from project_storage where project_id = $1',
        [other.id],
      )
    )[0]?.artifacts_size ?? 0
  const job = await take(other)
  const begun = await stored()
  assert.equal((await upload(job, job.token)).status, 201)
  assert.equal((await upload(job, job.token)).status, 201)
  assert.equal((await stored()) - begun, 5)
  await rowsOf(
    world(),
    'update project_storage set packages_size = packages_size + $2 where project_id = $1',
    [other.id, 1024 * 1024],
  )
  await limit(1)
  const refused = await upload(job, job.token)
  assert.deepEqual([refused.status, refused.headers['x-plan-limit']], [413, 'storage_size_limit=1'])
  await limit(15_000)
  await rowsOf(
    world(),
    'update project_storage set packages_size = packages_size - $2 where project_id = $1',
    [other.id, 1024 * 1024],
  )
  assert.equal((await trace(job, '0-2', 'log')).status, 202)
  assert.equal((await finish(job)).status, 200)
  assert.equal((await stored()) - begun, 8)
  await rowsOf(world(), 'delete from pipelines where id = (select pipeline_id from ci_jobs where id = $1)', [
    job.id,
  ])
  assert.equal((await stored()) - begun, 0)
})

test('a runner takes jobs of its own place only, and a removed one none', async () => {
  const pipeline = await pipelineIn(project, 'waits')
  const elsewhere = await world().make.group()
  const { id } = await makeRunner(world(), {
    token: 'glrt-elsewhere',
    runner_type: 'group_type',
    group_id: elsewhere.id,
  })
  assert.equal((await ask('glrt-elsewhere')).status, 204)
  assert.equal((await ask(await runnerOf(other, 'glrt-of-other'))).status, 204)
  await rowsOf(world(), 'delete from ci_runners where id = $1', [id])
  assert.equal((await ask('glrt-elsewhere')).status, 403)
  assert.equal(await statesOf(world(), pipeline), 'waits pending')
  const answer = await ask(await runnerOf(project, 'glrt-of-project'))
  assert.equal((await finish(answer.body as Taken)).status, 200)
})
