import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { digestOf } from '../../access/tokens.ts'
import { writeConfig } from '../../../test/support/config_commit.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { listOf, pick } from '../../../test/support/shares.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Project } from '../../db/schema/tables.ts'

const world = sharedWorld()
const CONFIG = `
build: { script: make, tags: [linux, docker], artifacts: { paths: [out] } }
check: { script: check }
ship: { stage: deploy, script: ship, when: manual }
late: { stage: deploy, script: late, when: delayed, start_in: 1 day, needs: [] }
`
let project: Project
let developer: Someone
let maintainer: Someone
let sha: string
before(async () => {
  const { make } = world()
  project = await make.project({ repository: 'empty' })
  developer = await make.memberOf('developer', { project })
  maintainer = await make.memberOf('maintainer', { project })
  sha = writeConfig(world(), project, CONFIG)
})

const path = (more = ''): string => `/projects/${project.id}/jobs${more}`
const act = (id: number, what: string, { as = developer, body = {} } = {}): Promise<Answered> =>
  world().call('POST', path(`/${id}/${what}`), { as, body })
const read = async (id: number): Promise<Record<string, unknown>> =>
  (await world().get(path(`/${id}`), developer)).body as Record<string, unknown>
const stateOf = async (id: number): Promise<unknown> => (await read(id))['status']

type Jobs = Readonly<Record<'build' | 'check' | 'ship' | 'late' | 'pipeline', number>>
async function start(): Promise<Jobs> {
  const made = await world().call('POST', `/projects/${project.id}/pipeline`, {
    as: developer,
    body: { ref: 'ci' },
  })
  const { id: pipeline } = made.body as { id: number }
  const rows = await rowsOf<{ id: number; name: string }>(
    world(),
    'select id, name from ci_jobs where pipeline_id = $1',
    [pipeline],
  )
  return {
    ...(Object.fromEntries(rows.map(({ id, name }) => [name, id])) as Omit<Jobs, 'pipeline'>),
    pipeline,
  }
}
/** Lets a job be over, as if a runner had said so. */
const end = (id: number, status: string): Promise<unknown> =>
  rowsOf(
    world(),
    `update ci_jobs set status = $2, failure_reason = case when $2 = 'failed' then 'script_failure' end,
            started_at = now() - interval '5 seconds', finished_at = now() where id = $1`,
    [id, status],
  )

test('a job has the published fields', async () => {
  const { build, pipeline } = await start()
  await end(build, 'failed')
  const job = await read(build)
  const fields =
    'allow_failure archived artifacts artifacts_expire_at commit coverage created_at duration erased_at failure_reason ' +
    'finished_at id name pipeline project queued_duration ref runner runner_manager stage started_at status tag ' +
    'tag_list user web_url'
  assert.equal(Object.keys(job).toSorted().join(' '), fields)
  assert.deepEqual(
    [
      job['name'],
      job['stage'],
      job['ref'],
      job['tag'],
      job['status'],
      job['failure_reason'],
      job['duration'],
      job['queued_duration'],
    ],
    ['build', 'test', 'ci', false, 'failed', 'script_failure', 5, 0],
  )
  assert.deepEqual([job['tag_list'], job['artifacts'], job['archived']], [['docker', 'linux'], [], false])
  assert.equal(job['web_url'], `https://guild.example/${project.full_path}/-/jobs/${build}`)
  assert.deepEqual(
    [
      (job['pipeline'] as { id: number }).id,
      (job['commit'] as { id: string }).id,
      (job['user'] as { id: number }).id,
    ],
    [pipeline, sha, developer.id],
  )
  assert.equal((await world().get(path('/0'), developer)).text, '{"message":"404 Not found"}')
})

test('a job that a runner took shows the runner and its process', async () => {
  const { build } = await start()
  await rowsOf(
    world(),
    `with r as (
       insert into ci_runners (runner_type, digest, description, contacted_at)
       values ('instance_type', sha256('shows'), 'shows', now() - interval '3 hours') returning id),
     m as (insert into ci_runner_managers (runner_id, system_id, version) select id, 's_1', '18.0' from r returning *)
     update ci_jobs set runner_id = m.runner_id, runner_manager_id = m.id from m where ci_jobs.id = $1`,
    [build],
  )
  const { runner, runner_manager } = (await read(build)) as Record<string, Record<string, unknown>>
  assert.deepEqual(
    [runner?.['description'], runner?.['is_shared'], runner?.['online'], runner?.['status']],
    ['shows', true, false, 'offline'],
  )
  assert.deepEqual(
    [runner_manager?.['system_id'], runner_manager?.['version'], runner_manager?.['status']],
    ['s_1', '18.0', 'online'],
  )
})

test('jobs of a project are listed the newest first, by states, by pages and by cursor, without totals', async () => {
  const first = await start()
  const second = await start()
  await end(second.build, 'success')
  const newest = [...Object.values(second), ...Object.values(first)]
    .filter((id) => id !== first.pipeline && id !== second.pipeline)
    .toSorted((a, b) => b - a)
  const list = (query: string): Promise<Answered> => world().get(`${path()}?${query}`, developer)
  const page = await list('per_page=8')
  assert.deepEqual(pick(page, 'id'), newest)
  assert.deepEqual([page.headers['x-total'], page.headers['x-next-page']], [undefined, '2'])
  assert.deepEqual(pick(await list('per_page=3&page=2'), 'id'), newest.slice(3, 6))
  const keyset = await list('per_page=3&pagination=keyset')
  const [, next] = /<([^>]+)>; rel="next"/.exec(String(keyset.headers['link'])) ?? []
  const then = await list(new URL(String(next)).search.slice(1))
  assert.deepEqual([...pick(keyset, 'id'), ...pick(then, 'id')], newest.slice(0, 6))
  assert.deepEqual(
    pick(await list('scope[]=scheduled&scope[]=success&per_page=2'), 'id'),
    [second.build, second.late].toSorted((a, b) => b - a),
  )
  assert.deepEqual(pick(await list('scope=scheduled&per_page=1'), 'id'), [second.late])
  for (const [query, text] of [
    ['scope=odd', 'scope does not have a valid value'],
    ['scope[]=failed&scope[]=odd', 'scope does not have a valid value'],
    ['pagination=keyset&cursor=x', 'cursor is invalid'],
  ] as const)
    assert.deepEqual([(await list(query)).status, (await list(query)).body], [400, { error: text }])
})

test('jobs of a pipeline are listed without those that were retried, unless they are asked for', async () => {
  const { build, check, pipeline } = await start()
  await end(build, 'failed')
  const fresh = (await act(build, 'retry')).body as { id: number }
  const of = async (query = ''): Promise<unknown[]> =>
    pick(await world().get(`/projects/${project.id}/pipelines/${pipeline}/jobs?${query}`, developer), 'id')
  const ids = await of()
  assert.ok(ids.includes(fresh.id) && !ids.includes(build))
  assert.ok((await of('include_retried=true')).includes(build))
  assert.deepEqual(await of('scope=pending'), [fresh.id, check])
  const bridges = await world().get(`/projects/${project.id}/pipelines/${pipeline}/bridges`, developer)
  assert.deepEqual([bridges.status, bridges.body], [200, []])
})

test('a manual job is played with variables, by the caller, once', async () => {
  const { build, check, ship } = await start()
  await end(build, 'success')
  const early = await act(ship, 'play')
  assert.deepEqual([early.status, early.body], [400, { message: '400 Bad request - Unplayable Job' }])
  await world().call('POST', path(`/${check}/cancel`), { as: developer })
  await rowsOf(world(), `update ci_jobs set status = 'manual' where id = $1`, [ship])
  const body = { job_variables_attributes: [{ key: 'PLACE', value: 'here' }] }
  const played = await act(ship, 'play', { as: maintainer, body })
  assert.deepEqual([played.status, (played.body as { status: string }).status], [200, 'pending'])
  assert.deepEqual(((await read(ship))['user'] as { id: number }).id, maintainer.id)
  const { variables } = await rowOf<{ variables: Buffer }>(
    world(),
    'select variables from ci_jobs where id = $1',
    [ship],
  )
  assert.equal(
    world().opened.instance.vault.open(variables),
    JSON.stringify([{ key: 'PLACE', value: 'here' }]),
  )
  for (const [sent, text] of [
    [[{ key: 'A' }], 'job_variables_attributes[0][value] is missing'],
    [[{ value: 'A' }], 'job_variables_attributes[0][key] is missing'],
    [[{ key: 'A-B', value: '' }], 'job_variables_attributes[0][key] is invalid'],
  ] as const) {
    const refused = await act(ship, 'play', { body: { job_variables_attributes: sent } })
    assert.deepEqual([refused.status, refused.body], [400, { error: text }])
  }
})

test('a delayed job is played before its time', async () => {
  const { late } = await start()
  assert.equal(await stateOf(late), 'scheduled')
  assert.equal((await act(late, 'play')).status, 200)
  assert.equal(await stateOf(late), 'pending')
})

test('variables of a played job need the role that the project asks for', async () => {
  const { late } = await start()
  const body = { job_variables_attributes: [{ key: 'A', value: 'b' }] }
  await rowsOf(
    world(),
    `update projects set settings = settings || '{"ci_pipeline_variables_minimum_override_role":"maintainer"}' where id = $1`,
    [project.id],
  )
  assert.equal((await act(late, 'play', { body })).status, 403)
  assert.equal((await act(late, 'play', { body, as: maintainer })).status, 200)
  await rowsOf(
    world(),
    `update projects set settings = settings - 'ci_pipeline_variables_minimum_override_role' where id = $1`,
    [project.id],
  )
})

test('a finished job is retried as a new job; others are not retryable', async () => {
  const { build } = await start()
  const early = await act(build, 'retry')
  assert.deepEqual([early.status, early.body], [403, { message: '403 Forbidden - Job is not retryable' }])
  await end(build, 'success')
  const fresh = (await act(build, 'retry')).body as Record<string, unknown>
  assert.notEqual(fresh['id'], build)
  assert.deepEqual([fresh['name'], fresh['status']], ['build', 'pending'])
  assert.equal((await act(build, 'retry')).status, 403)
})

test('a job is canceled; one that is over stays as it is', async () => {
  const { build, check } = await start()
  const answer = await act(build, 'cancel')
  assert.deepEqual([answer.status, (answer.body as { status: string }).status], [201, 'canceled'])
  await end(check, 'success')
  assert.equal(((await act(check, 'cancel')).body as { status: string }).status, 'success')
})

test('a job that is being canceled is ended by a Maintainer with force', async () => {
  const { build } = await start()
  await rowsOf(
    world(),
    `update ci_jobs set status = 'running', cancels_gracefully = true, started_at = now(), contacted_at = now(),
            timeout = 3600, token_digest = sha256('force') where id = $1`,
    [build],
  )
  const status = async (body: object, as = developer): Promise<unknown[]> => {
    const answer = await act(build, 'cancel', { as, body })
    return [answer.status, (answer.body as { status?: string }).status]
  }
  assert.deepEqual(await status({}), [201, 'canceling'])
  assert.deepEqual(await status({ force: true }), [403, undefined])
  assert.deepEqual(await status({ force: true }, maintainer), [201, 'canceled'])
})

test('an erased job has neither log nor artifacts; a second time is refused', async () => {
  const { build } = await start()
  const refused = { message: '403 Forbidden - Job is not erasable!' }
  assert.deepEqual((await act(build, 'erase', { as: maintainer })).body, refused)
  const { traces } = world().opened.instance
  await traces.append(build, 0, Buffer.from('made\n'))
  await end(build, 'success')
  const trace = await world().get(path(`/${build}/trace`), developer)
  assert.deepEqual(
    [trace.status, trace.text, trace.headers['content-type'], trace.headers['content-disposition']],
    [200, 'made\n', 'text/plain', `infile; filename="${build}.log"`],
  )
  const erased = (await act(build, 'erase')).body as Record<string, unknown>
  assert.ok(erased['erased_at'])
  assert.equal((await world().get(path(`/${build}/trace`), developer)).text, '')
  assert.deepEqual((await act(build, 'erase', { as: maintainer })).body, refused)
})

test('a Developer erases own jobs only', async () => {
  const { build } = await start()
  await end(build, 'failed')
  const other = await world().make.memberOf('developer', { project })
  assert.equal((await act(build, 'erase', { as: other })).status, 403)
  assert.equal((await act(build, 'erase')).status, 201)
})

test('the log of a job that prints all variables is for Developers', async () => {
  const { build } = await start()
  const reporter = await world().make.memberOf('reporter', { project })
  assert.equal((await world().get(path(`/${build}/trace`), reporter)).status, 200)
  await rowsOf(
    world(),
    `update ci_job_specs set variables = '[{"key":"CI_DEBUG_TRACE","value":"true"}]'
      where id = (select spec_id from ci_jobs where id = $1)`,
    [build],
  )
  assert.equal((await world().get(path(`/${build}/trace`), reporter)).status, 403)
  assert.equal((await world().get(path(`/${build}/trace`), developer)).status, 200)
})

test('jobs of a protected branch are for those who may push or merge there', async () => {
  const { make } = world()
  const { build, late, pipeline } = await start()
  await end(build, 'failed')
  await make.sql(`
    with b as (insert into protected_branches (project_id, name) values (${project.id}, 'ci') returning id)
    insert into protected_branch_levels (protected_branch_id, action, access_level)
    select id, action, 40 from b, (values ('push'), ('merge')) a (action)`)
  for (const [id, what] of [
    [build, 'retry'],
    [late, 'play'],
    [late, 'cancel'],
  ] as const)
    assert.equal((await act(id, what)).status, 403, what)
  for (const what of ['retry', 'cancel'])
    assert.equal(
      (await world().call('POST', `/projects/${project.id}/pipelines/${pipeline}/${what}`, { as: developer }))
        .status,
      403,
    )
  assert.equal((await act(build, 'retry', { as: maintainer })).status, 201)
  await make.sql(`delete from protected_branches where project_id = ${project.id}`)
})

test('the token of a running job reads the job, and the jobs of its pipeline', async () => {
  const { build, pipeline } = await start()
  const token = `glcbt-own-${build}`
  const own = (header: Record<string, string>, where = '/job'): Promise<Answered> =>
    world().call('GET', where, { headers: header })
  await rowsOf(
    world(),
    `update ci_jobs set status = 'running', contacted_at = now(), started_at = now(), timeout = 60, token_digest = $2
      where id = $1`,
    [build, digestOf(token)],
  )
  const answer = await own({ 'job-token': token })
  assert.deepEqual([answer.status, (answer.body as { id: number }).id], [200, build])
  assert.equal((await world().call('GET', '/job', { query: { job_token: token } })).status, 200)
  const listed = await own({ 'job-token': token }, `/projects/${project.id}/pipelines/${pipeline}/jobs`)
  assert.equal(listOf(listed).length, 4)
  const other = await world().make.project({ visibility: 'private' })
  await world().make.member(developer, 'developer', { project: other })
  assert.equal((await own({ 'job-token': token }, `/projects/${other.id}/pipelines/1/jobs`)).status, 404)
  assert.equal((await own({ 'job-token': token }, `/projects/${project.id}/jobs/${build}`)).status, 401)
  assert.deepEqual((await world().get('/job', developer)).body, { message: '404 Job Not Found' })
  await end(build, 'success')
  assert.equal((await own({ 'job-token': token })).status, 401)
})
