import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { statesOf } from '../../../test/support/ci_engine.ts'
import { writeConfig } from '../../../test/support/config_commit.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { listOf, pick } from '../../../test/support/shares.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Project } from '../../db/schema/tables.ts'

const world = sharedWorld()
let project: Project
let developer: Someone
let sha: string
before(async () => {
  const { make } = world()
  project = await make.project({ repository: 'empty' })
  developer = await make.memberOf('developer', { project })
  sha = writeConfig(world(), project, 'build:\n  script: make\ndeploy:\n  stage: deploy\n  script: ship\n')
})

const path = (more = ''): string => `/projects/${project.id}/pipelines${more}`
const create = (body: object, as = developer): Promise<Answered> =>
  world().call('POST', `/projects/${project.id}/pipeline`, { as, body })
async function made(body: object = { ref: 'ci' }): Promise<{ id: number } & Record<string, unknown>> {
  const answer = await create(body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body as { id: number } & Record<string, unknown>
}

test('a pipeline that is started has the published fields, and can be read', async () => {
  const pipeline = await made()
  const { source, ref, status, before_sha, tag, yaml_errors, coverage, name } = pipeline
  assert.deepEqual(
    [pipeline['sha'], source, ref, status, before_sha, tag, yaml_errors, coverage, name],
    [sha, 'api', 'ci', 'created', '0'.repeat(40), false, null, null, null],
  )
  const read = (await world().get(path(`/${pipeline.id}`), developer)).body as Record<string, unknown>
  assert.deepEqual(
    [read['status'], read['web_url'], (read['user'] as { id: number }).id],
    ['pending', `https://guild.example/${project.full_path}/-/pipelines/${pipeline.id}`, developer.id],
  )
  const jobs = await world().get(path(`/${pipeline.id}/jobs`), developer)
  assert.deepEqual(pick(jobs, 'name'), ['deploy', 'build'])
  assert.deepEqual(pick(jobs, 'status'), ['created', 'pending'])
})

test('rules see a freeze of deployments', async () => {
  const { make, call, get } = world()
  const frozen = await make.project({ repository: 'empty' })
  const as = await make.memberOf('developer', { project: frozen })
  const config =
    'build: { script: make }\ndeploy: { script: ship, rules: [{ if: $CI_DEPLOY_FREEZE == null }] }\n'
  writeConfig(world(), frozen, config)
  const names = async (): Promise<unknown[]> => {
    const answer = await call('POST', `/projects/${frozen.id}/pipeline`, { as, body: { ref: 'ci' } })
    assert.equal(answer.status, 201, answer.text)
    const { id } = answer.body as { id: number }
    return pick(await get(`/projects/${frozen.id}/pipelines/${id}/jobs`, as), 'name')
  }
  assert.deepEqual(await names(), ['deploy', 'build'])
  await make.sql(
    `insert into freeze_periods (project_id, freeze_start, freeze_end, cron_timezone)
     values (${frozen.id}, '0 0 1 1 *', '0 0 30 2 *', 'UTC')`,
  )
  assert.deepEqual(await names(), ['build'])
})

test('a pipeline that cannot be made is told why, and nothing is kept', async () => {
  const before = (await world().get(path(), developer)).headers['x-total']
  const rows: [object, unknown][] = [
    [{}, { error: 'ref is missing' }],
    [{ ref: 'nothing' }, { message: { base: ['Reference not found'] } }],
    [{ ref: 'refs/tags/ci' }, { message: { base: ['Reference not found'] } }],
  ]
  for (const [body, expected] of rows) {
    const answer = await create(body)
    assert.deepEqual([answer.status, answer.body], [400, expected])
  }
  assert.equal((await world().get(path(), developer)).headers['x-total'], before)
})

test('pipelines are listed the newest first, by ref, status, sha and source', async () => {
  const first = await made()
  const second = await made()
  const ids = async (query: string): Promise<unknown[]> =>
    pick(await world().get(`${path()}?per_page=2&${query}`, developer), 'id')
  assert.deepEqual(await ids(''), [second.id, first.id])
  assert.deepEqual(await ids(`sha=${sha}&ref=ci&source=api&status=pending`), [second.id, first.id])
  for (const none of ['ref=other', 'status=manual', 'source=push', 'scope=tags', 'sha=0'])
    assert.deepEqual(await ids(none), [], none)
  assert.equal((await world().get(`${path()}?status=odd`, developer)).status, 400)
  assert.ok('name' in (listOf(await world().get(path(), developer))[0] ?? {}))
})

test('pipelines are narrowed by name, user, time, faults, and the latest of each branch', async () => {
  const first = await made()
  const last = await made()
  const ids = async (query: string): Promise<unknown[]> =>
    pick(await world().get(`${path()}?per_page=2&${query}`, developer), 'id')
  assert.equal(
    (await world().call('PUT', path(`/${first.id}/metadata`), { as: developer, body: { name: 'Ship' } }))
      .status,
    200,
  )
  assert.deepEqual(await ids('name=Ship'), [first.id])
  assert.deepEqual(await ids(`username=${developer.username.toUpperCase()}&ref=ci`), [last.id, first.id])
  assert.deepEqual(await ids('username=nobody-has-it'), [])
  assert.deepEqual(await ids('scope=branches'), [last.id])
  assert.deepEqual(await ids('scope=tags'), [])
  assert.deepEqual(await ids('yaml_errors=true'), [])
  assert.deepEqual(await ids('yaml_errors=false'), [last.id, first.id])
  for (const name of ['created', 'updated']) {
    assert.deepEqual(await ids(`${name}_after=2100-01-01T00:00:00Z`), [], name)
    assert.deepEqual(await ids(`${name}_before=2100-01-01T00:00:00Z`), [last.id, first.id], name)
  }
})

test('the latest pipeline is one of the head of its ref, or it is forbidden', async () => {
  const latest = (query = ''): Promise<Answered> => world().get(path(`/latest${query}`), developer)
  await made()
  const { id } = await made()
  assert.equal(((await latest('?ref=ci')).body as { id: number }).id, id)
  for (const query of ['', '?ref=none', '?ref=../ci', '?ref=', '?ref=refs%2Fheads%2Fci', `?ref=${sha}`])
    assert.equal((await latest(query)).status, 403, query)
  sha = writeConfig(world(), project, 'build:\n  script: make\ndeploy:\n  stage: deploy\n  script: again\n')
  assert.equal((await latest('?ref=ci')).status, 403)
})

test('variables are for Maintainers and the Developer who started the pipeline', async () => {
  const variables = [
    { key: 'PLACE', value: 'sea' },
    { key: 'KEY', value: 'lines', variable_type: 'file' },
  ]
  const { id } = await made({ ref: 'ci', variables })
  const read = (as: Someone): Promise<Answered> => world().get(path(`/${id}/variables`), as)
  const shown = [
    { variable_type: 'env_var', key: 'PLACE', value: 'sea', raw: false },
    { variable_type: 'file', key: 'KEY', value: 'lines', raw: false },
  ]
  assert.deepEqual((await read(developer)).body, shown)
  const { make } = world()
  assert.deepEqual((await read(await make.memberOf('maintainer', { project }))).body, shown)
  assert.equal((await read(await make.memberOf('developer', { project }))).status, 403)
})

test('a pipeline gets another name of at most 255 characters', async () => {
  const { id } = await made()
  const rename = (body: object): Promise<Answered> =>
    world().call('PUT', path(`/${id}/metadata`), { as: developer, body })
  assert.equal(((await rename({ name: 'x'.repeat(255) })).body as { name: string }).name.length, 255)
  const long = await rename({ name: 'x'.repeat(256) })
  assert.deepEqual(
    [long.status, long.body],
    [400, { message: '400 Bad request - Name is too long (maximum is 255 characters)' }],
  )
  assert.deepEqual((await rename({})).body, { error: 'name is missing' })
})

test('the 26th pipeline of a commit in a minute is refused, for its user alone', async () => {
  const { make } = world()
  const hasty = await make.memberOf('developer', { project })
  const text = 'Too many pipelines created in the last minute. Try again later.'
  const { id } = (await create({ ref: 'ci' }, hasty)).body as { id: number }
  await rowsOf(
    world(),
    `insert into pipelines (iid, project_id, sha, ref, user_id)
     select 1000 + n, project_id, sha, ref, user_id from pipelines, generate_series(1, 24) n where id = $1`,
    [id],
  )
  const refused = await create({ ref: 'ci' }, hasty)
  assert.deepEqual([refused.status, refused.body], [400, { message: { base: [text] } }])
  await made()
})

test('a plan limits the jobs of active pipelines', async () => {
  const admin = await world().make.admin()
  const limit = (ci_active_jobs: number): Promise<Answered> =>
    world().call('PUT', '/application/plan_limits', {
      as: admin,
      body: { plan_name: 'default', ci_active_jobs },
    })
  await made()
  await limit(2)
  const refused = await create({ ref: 'ci' })
  const text = 'Project exceeded the allowed number of jobs in active pipelines. Retry later.'
  assert.deepEqual([refused.status, refused.body], [400, { message: { base: [text] } }])
  await limit(0)
  await made()
})

test('a pipeline is canceled, retried and deleted', async () => {
  const pipeline = await made()
  const act = async (what: string): Promise<unknown[]> => {
    const answer = await world().call('POST', path(`/${pipeline.id}/${what}`), { as: developer })
    return [answer.status, (answer.body as { status: string }).status]
  }
  assert.deepEqual(await act('cancel'), [200, 'canceled'])
  assert.deepEqual(await act('cancel'), [200, 'canceled'])
  assert.deepEqual(await act('retry'), [201, 'pending'])
  assert.equal(await statesOf(world(), pipeline), 'build pending, deploy created')
  const owner = await world().make.memberOf('owner', { project })
  assert.equal((await world().call('DELETE', path(`/${pipeline.id}`), { as: owner })).status, 204)
  assert.equal((await world().get(path(`/${pipeline.id}`), developer)).status, 404)
})
