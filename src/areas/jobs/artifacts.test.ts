import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { keepArchive } from '../../../test/support/artifacts.ts'
import { writeConfig } from '../../../test/support/config_commit.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { pick } from '../../../test/support/shares.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import { digestOf } from '../../access/tokens.ts'
import { removeArtifacts } from '../../ci/jobs/artifacts.ts'
import type { Project } from '../../db/schema/tables.ts'

const world = sharedWorld()
let project: Project
let developer: Someone
let reporter: Someone
let maintainer: Someone
before(async () => {
  const { make } = world()
  project = await make.project({ repository: 'empty', visibility: 'private' })
  developer = await make.memberOf('developer', { project })
  reporter = await make.memberOf('reporter', { project })
  maintainer = await make.memberOf('maintainer', { project })
})

/** A finished job with artifacts on a branch, of a pipeline that succeeded. */
async function built(artifacts = '', ref = 'ci'): Promise<number> {
  writeConfig(
    world(),
    project,
    `build: { script: make, artifacts: { paths: [out] ${artifacts && `, ${artifacts}`} } }`,
    ref,
  )
  const made = await world().call('POST', `/projects/${project.id}/pipeline`, {
    as: developer,
    body: { ref },
  })
  assert.equal(made.status, 201, made.text)
  const { id } = await rowOf<{ id: number }>(
    world(),
    `with p as (update pipelines set status = 'success' where id = $1)
     update ci_jobs set status = 'success', finished_at = now() where pipeline_id = $1 returning id`,
    [(made.body as { id: number }).id],
  )
  await keepArchive(world(), { id, project_id: project.id })
  return id
}
const path = (more: string): string => `/projects/${project.id}/jobs/${more}`
const get = (more: string, as: Someone | undefined = reporter): Promise<Answered> =>
  world().call('GET', path(more), { as })
const answer = ({ status, text }: Answered): unknown[] => [status, text]

test('the artifacts of a job are downloaded whole, also in parts', async () => {
  const id = await built()
  const whole = await get(`${id}/artifacts`)
  assert.deepEqual(
    [whole.status, whole.headers['content-type'], whole.text.slice(0, 2)],
    [200, 'application/zip', 'PK'],
  )
  assert.match(String(whole.headers['content-disposition']), /^attachment; filename="artifacts.zip"/)
  const part = await world().call('GET', path(`${id}/artifacts`), {
    as: reporter,
    headers: { range: 'bytes=0-1' },
  })
  assert.deepEqual([part.status, part.text], [206, 'PK'])
  const job = (await get(String(id))).body as Record<string, unknown>
  assert.deepEqual(
    [job['artifacts_file'], pick({ ...whole, body: job['artifacts'] }, 'file_type')],
    [{ filename: 'artifacts.zip', size: Number(whole.headers['content-length']) }, ['archive']],
  )
})

test('one file of the artifacts is read by its path, deflated or stored', async () => {
  const id = await built()
  const file = await get(`${id}/artifacts/out/made.txt`)
  assert.deepEqual(answer(file), [200, 'made\n'])
  assert.deepEqual(
    [file.headers['content-length'], file.headers['content-type']],
    ['5', 'application/octet-stream'],
  )
  assert.deepEqual(answer(await get(`${id}/artifacts/out%2Fraw.bin`)), [200, 'raw'])
  for (const missing of ['out', 'out/', 'made.txt', 'out/made.txt/x'])
    assert.equal((await get(`${id}/artifacts/${missing}`)).status, 404, missing)
  for (const bad of ['%2Fout', 'out/%2E%2E%2Fx', '..%2Fout'])
    assert.deepEqual(answer(await get(`${id}/artifacts/${bad}`)), [400, '{"message":"400 Bad request"}'], bad)
})

test('artifacts of a branch are those of its newest successful pipeline', async () => {
  const first = await built('', 'a/branch')
  const second = await built('', 'a/branch')
  await keepArchive(world(), { id: second, project_id: project.id }, { files: { 'out/made.txt': 'again' } })
  const file = 'artifacts/a/branch/raw/out/made.txt?job=build'
  assert.deepEqual(answer(await get(file)), [200, 'again'])
  assert.deepEqual(answer(await get('artifacts/a%2Fbranch/raw/out%2Fmade.txt?job=build')), [200, 'again'])
  assert.equal((await get('artifacts/a/branch/download?job=build')).status, 200)
  await rowsOf(
    world(),
    `update pipelines set status = 'failed' where id = (select pipeline_id from ci_jobs where id = $1)`,
    [second],
  )
  assert.deepEqual(answer(await get(file)), [200, 'made\n'])
  assert.ok(first)
  for (const none of ['artifacts/other/download?job=build', 'artifacts/a/branch/download?job=test'])
    assert.equal((await get(none)).status, 404, none)
  assert.deepEqual(answer(await get('artifacts/a/branch/download')), [400, '{"error":"job is missing"}'])
})

test('the configuration says who reads artifacts', async () => {
  for (const [option, statuses] of [
    ['public: true', [200, 200, 200]],
    ['public: false', [403, 200, 200]],
    ['access: all', [200, 200, 200]],
    ['access: developer', [403, 200, 200]],
    ['access: none', [403, 403, 403]],
  ] as const) {
    const id = await built(option)
    const got = []
    for (const as of [reporter, developer, maintainer]) got.push((await get(`${id}/artifacts`, as)).status)
    assert.deepEqual(got, statuses, option)
  }
})

test('expired artifacts are gone; kept ones stay', async () => {
  const id = await built()
  const keep = (): Promise<Answered> => world().call('POST', path(`${id}/artifacts/keep`), { as: developer })
  assert.ok(((await get(String(id))).body as Record<string, unknown>)['artifacts_expire_at'])
  const kept = await keep()
  assert.deepEqual([kept.status, (kept.body as Record<string, unknown>)['artifacts_expire_at']], [200, null])
  await rowsOf(world(), `update ci_job_artifacts set expire_at = now() where job_id = $1`, [id])
  assert.equal((await get(`${id}/artifacts`)).status, 404)
  assert.deepEqual(((await get(String(id))).body as Record<string, unknown>)['artifacts'], [])
  assert.equal((await keep()).status, 404)
})

test('a Maintainer deletes the artifacts of a job, or of all finished jobs', async () => {
  const [one, other] = [await built(), await built()]
  const drop = (where: string): Promise<Answered> =>
    world().call('DELETE', `/projects/${project.id}/${where}`, { as: maintainer })
  assert.deepEqual(answer(await drop(`jobs/${one}/artifacts`)), [204, ''])
  assert.equal((await get(`${one}/artifacts`)).status, 404)
  assert.equal((await get(`${other}/artifacts`)).status, 200)
  assert.deepEqual(answer(await drop('artifacts')), [202, '{"message":"202 Accepted"}'])
  await removeArtifacts.run(world().opened.instance, { project_id: project.id })
  assert.equal((await get(`${other}/artifacts`)).status, 404)
})

test('the token of a running job downloads artifacts of its project', async () => {
  const id = await built()
  await rowsOf(
    world(),
    `update ci_jobs set status = 'running', contacted_at = now(), started_at = now(), timeout = 60, token_digest = $2
      where id = $1`,
    [id, digestOf('glcbt-reads')],
  )
  const byToken = (query: Record<string, string>): Promise<Answered> =>
    world().call('GET', path(`${id}/artifacts/out/made.txt`), { query })
  assert.deepEqual(answer(await byToken({ job_token: 'glcbt-reads' })), [200, 'made\n'])
  assert.equal((await byToken({ job_token: 'glcbt-other' })).status, 401)
  assert.equal((await byToken({})).status, 404)
})
