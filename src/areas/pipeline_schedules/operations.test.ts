import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { playSchedule, runSchedule } from '../../ci/creation/schedules.ts'
import type { Project } from '../../db/schema/tables.ts'
import { writeConfig } from '../../../test/support/config_commit.ts'
import { gitText } from '../../../test/support/git_fixtures.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { makeSchedule, queuedJobs } from '../../../test/support/schedule_makers.ts'
import { pick } from '../../../test/support/shares.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import { repositoryPath } from '../../core/places/projects.ts'

const world = sharedWorld()
let project: Project
let developer: Someone
let maintainer: Someone
before(async () => {
  const { make } = world()
  project = await make.project({ repository: 'empty' })
  developer = await make.memberOf('developer', { project })
  maintainer = await make.memberOf('maintainer', { project })
  writeConfig(world(), project, 'build: { script: make }\n')
})

const path = (more = ''): string => `/projects/${project.id}/pipeline_schedules${more}`
type Method = 'POST' | 'PUT' | 'DELETE'
const send = (method: Method, more: string, body?: object, as = developer): Promise<Answered> =>
  world().call(method, path(more), { as, ...(body && { body }) })
const said = ({ status, body }: Answered): unknown[] => [status, body]
type Body = { readonly id: number } & Readonly<Record<string, unknown>>
const good = { description: 'nightly', ref: 'ci', cron: '0 2 * * *' }
async function create(body: object = good, as = developer): Promise<Body> {
  await rowsOf(world(), 'delete from pipeline_schedules where project_id = $1', [project.id])
  const answer = await send('POST', '', body, as)
  assert.equal(answer.status, 201, answer.text)
  return answer.body as Body
}

test('a schedule has its published fields, defaults and next run', async () => {
  const created = await create({ ...good, cron: ' 0 2 * * *\n' })
  assert.equal(
    Object.keys(created).join(' '),
    'id description ref cron cron_timezone next_run_at active created_at updated_at owner last_pipeline variables',
  )
  const { ref, cron, cron_timezone, active, last_pipeline, variables } = created
  assert.deepEqual(
    [ref, cron, cron_timezone, active, last_pipeline, variables],
    ['refs/heads/ci', '0 2 * * *', 'UTC', true, null, []],
  )
  assert.equal((created['owner'] as { id: number }).id, developer.id)
  assert.match(String(created['next_run_at']), /T02:00:00.000Z$/)
  assert.deepEqual((await world().get(path(`/${created.id}`), developer)).body, created)
  const [queued] = await queuedJobs(world(), runSchedule.name)
  assert.equal(queued?.run_at.toISOString(), created['next_run_at'])
  const { last_pipeline: _, variables: __, ...listed } = created
  assert.deepEqual((await world().get(path(), developer)).body, [listed])
})

test('schedules are listed by id, active and inactive ones apart', async () => {
  const one = await create()
  const two = (await send('POST', '', { ...good, active: false })).body as Body
  const ids = async (query: string): Promise<unknown[]> =>
    pick(await world().get(path(query), developer), 'id')
  assert.deepEqual(await ids(''), [one.id, two.id])
  assert.deepEqual(await ids('?scope=active'), [one.id])
  assert.deepEqual(await ids('?scope=inactive'), [two.id])
  assert.deepEqual(await ids('?per_page=1&page=2'), [two.id])
  assert.deepEqual(said(await world().get(path('?scope=odd'), developer)), [
    400,
    { error: 'scope does not have a valid value' },
  ])
})

test('bad schedules are refused in the published words, and nothing is kept', async () => {
  const { id } = await create()
  const directory = world().opened.instance.git.directory(repositoryPath(project.id))
  const sha = gitText(directory, ['rev-parse', 'refs/heads/ci'])
  for (const ref of ['refs/heads/both', 'refs/tags/both', 'refs/tags/v1'])
    gitText(directory, ['update-ref', ref, sha])
  const before = await contents(world())
  const cron = [' is invalid syntax']
  const rows: [object, object][] = [
    [{ ref: '' }, { error: 'ref is empty' }],
    [{ cron: 'soon' }, { message: { cron } }],
    [{ cron: '* * * * * *' }, { message: { cron } }],
    [{ cron: '' }, { message: { cron } }],
    [{ cron_timezone: 'Nowhere', cron: '@daily' }, { message: { cron, cron_timezone: cron } }],
    [{ description: ' ' }, { message: { description: ["can't be blank"] } }],
    [{ ref: 'none' }, { message: { base: ['Reference not found'] } }],
    [{ ref: 'refs/heads/v1' }, { message: { base: ['Reference not found'] } }],
    [{ ref: 'both' }, { message: { base: ['Ref is ambiguous'] } }],
  ]
  for (const [change, body] of rows)
    for (const answer of [
      await send('POST', '', { ...good, ...change }),
      await send('PUT', `/${id}`, change),
    ])
      assert.deepEqual(said(answer), [400, body], JSON.stringify(change))
  for (const name of ['description', 'ref', 'cron']) {
    const answer = await send('POST', '', { ...good, [name]: undefined })
    assert.deepEqual(said(answer), [400, { error: `${name} is missing` }])
  }
  assert.equal(await contents(world()), before)
  assert.equal((await create({ ...good, ref: 'v1' }))['ref'], 'refs/tags/v1')
  assert.equal((await create({ ...good, ref: 'refs/tags/both' }))['ref'], 'refs/tags/both')
})

test('a change of its time moves the next run; any other leaves it', async () => {
  const made = await create()
  const named = (await send('PUT', `/${made.id}`, { description: 'weekly' })).body as Body
  assert.deepEqual(named, { ...made, description: 'weekly', updated_at: named['updated_at'] })
  const moved = (await send('PUT', `/${made.id}`, { cron: '30 4 * * *', cron_timezone: 'Asia/Tokyo' }))
    .body as Body
  assert.match(String(moved['next_run_at']), /T19:30:00.000Z$/)
  const [queued, ...more] = await queuedJobs(world(), runSchedule.name).then((all) =>
    all.filter(({ payload }) => payload.id === made.id),
  )
  assert.deepEqual([queued?.run_at.toISOString(), more], [moved['next_run_at'], []])
  const never = (await send('PUT', `/${made.id}`, { cron: '0 0 31 2 *' })).body as Body
  assert.equal(never['next_run_at'], null)
})

test('a project has as many schedules as its plan allows, also when they are made at once', async () => {
  await create()
  const answers = await Promise.all(Array.from({ length: 12 }, () => send('POST', '', good)))
  assert.equal(answers.filter(({ status }) => status === 201).length, 9)
  assert.deepEqual(said(await send('POST', '', good)), [
    400,
    { message: { base: ['Maximum number of ci pipeline schedules (10) exceeded'] } },
  ])
})

test('a protected branch keeps its schedules for those who may push or merge', async () => {
  const { make } = world()
  const mine = await create()
  await make.sql(`
    with b as (insert into protected_branches (project_id, name) values (${project.id}, 'c*') returning id)
    insert into protected_branch_levels (protected_branch_id, action, access_level)
    select id, unnest(array['push', 'merge']), 40 from b`)
  const refusal = (deed: string): unknown[] => [
    400,
    { message: { base: [`The current user is not authorized to ${deed} the pipeline schedule`] } },
  ]
  for (const ref of ['ci', 'refs/heads/ci'])
    assert.deepEqual(said(await send('POST', '', { ...good, ref })), refusal('create'))
  assert.deepEqual(said(await send('PUT', `/${mine.id}`, { description: 'x' })), refusal('update'))
  assert.equal((await send('POST', `/${mine.id}/play`)).status, 403)
  assert.equal((await send('POST', `/${mine.id}/play`, undefined, maintainer)).status, 201)
  await make.sql(`delete from protected_branches where project_id = ${project.id}`)
})

test('only the owner changes a schedule; a Maintainer takes it over first', async () => {
  const made = await create()
  await send('POST', `/${made.id}/variables`, { key: 'A', value: 'x' })
  const other = await world().make.memberOf('developer', { project })
  for (const who of [other, maintainer])
    assert.equal((await send('PUT', `/${made.id}`, { description: 'x' }, who)).status, 403)
  assert.equal((await send('POST', `/${made.id}/take_ownership`, undefined, other)).status, 403)
  const same = await send('POST', `/${made.id}/take_ownership`)
  assert.deepEqual([same.status, (same.body as Body)['updated_at']], [200, made['updated_at']])
  const taken = await send('POST', `/${made.id}/take_ownership`, undefined, maintainer)
  assert.deepEqual([taken.status, ((taken.body as Body)['owner'] as Body).id], [201, maintainer.id])
  assert.equal((await send('PUT', `/${made.id}`, { description: 'x' })).status, 403)
  assert.equal((await send('DELETE', `/${made.id}`)).status, 403)
  assert.equal((await send('PUT', `/${made.id}`, { description: 'x' }, maintainer)).status, 200)
  assert.ok(!('variables' in ((await world().get(path(`/${made.id}`), developer)).body as object)))
  assert.equal((await send('DELETE', `/${made.id}`, undefined, maintainer)).status, 204)
})

test('variables are shown to the owner and to Maintainers only, and lie sealed', async () => {
  const { id } = await create()
  const body = { key: 'TOKEN', value: 'sesame-open', variable_type: 'file' }
  const added = await send('POST', `/${id}/variables`, body)
  assert.deepEqual(said(added), [
    201,
    { variable_type: 'file', key: 'TOKEN', value: 'sesame-open', raw: false },
  ])
  const variables = async (as: Someone): Promise<unknown> =>
    ((await world().get(path(`/${id}`), as)).body as Body)['variables']
  assert.deepEqual(await variables(developer), [added.body])
  assert.deepEqual(await variables(maintainer), [added.body])
  const [reporter, other] = [
    await world().make.memberOf('reporter', { project }),
    await world().make.memberOf('developer', { project }),
  ]
  for (const who of [reporter, other]) assert.equal(await variables(who), undefined)
  assert.ok(!(await contents(world())).includes(Buffer.from('sesame-open').toString('hex')))
})

test('variables are changed and deleted by key; bad ones are refused in the published words', async () => {
  const { id } = await create()
  await send('POST', `/${id}/variables`, { key: 'A', value: '1' })
  const change = await send('PUT', `/${id}/variables/A`, { value: '2', variable_type: 'file' })
  assert.deepEqual(said(change), [200, { variable_type: 'file', key: 'A', value: '2', raw: false }])
  const rows: [object, object][] = [
    [{ key: 'A', value: '' }, { message: { key: ['has already been taken'] } }],
    [{ key: '!?', value: '' }, { message: { key: ["can contain only letters, digits and '_'."] } }],
    [{ key: 'B'.repeat(256), value: '' }, { message: { key: ['is too long (maximum is 255 characters)'] } }],
    [
      { key: 'B', value: 'x'.repeat(10_001) },
      { message: { value: ['is too long (maximum is 10000 characters)'] } },
    ],
    [{ value: '' }, { error: 'key is missing' }],
    [{ key: 'B' }, { error: 'value is missing' }],
    [{ key: 'B', value: '', variable_type: 'odd' }, { error: 'variable_type does not have a valid value' }],
  ]
  for (const [body, expected] of rows)
    assert.deepEqual(said(await send('POST', `/${id}/variables`, body)), [400, expected])
  const gone = [404, { message: '404 Pipeline Schedule Variable Not Found' }]
  assert.deepEqual(said(await send('PUT', `/${id}/variables/NONE`, { value: 'x' })), gone)
  assert.deepEqual(said(await send('DELETE', `/${id}/variables/A`)), [202, change.body])
  assert.deepEqual(said(await send('DELETE', `/${id}/variables/A`)), gone)
})

test('the setting of the project says who sets variables of schedules', async () => {
  const { id } = await create()
  const set = (role: string): Promise<unknown[]> =>
    rowsOf(
      world(),
      `update projects set settings = settings || jsonb_build_object('ci_pipeline_variables_minimum_override_role', $2::text)
        where id = $1`,
      [project.id, role],
    )
  await set('maintainer')
  assert.equal((await send('POST', `/${id}/variables`, { key: 'B', value: '' })).status, 403)
  await set('developer')
  assert.equal((await send('POST', `/${id}/variables`, { key: 'B', value: '' })).status, 201)
})

test('an unknown schedule and one of another project are not found, in the published words', async () => {
  const other = await world().make.project()
  const { id } = await makeSchedule(world(), other, { owner_id: developer.id })
  for (const one of [id, -5])
    for (const [method, more] of [
      ...([
        ['PUT', ''],
        ['DELETE', ''],
        ['POST', '/play'],
        ['POST', '/take_ownership'],
      ] as const),
      ['DELETE', '/variables/A'],
    ] as const)
      assert.deepEqual(said(await send(method, `/${one}${more}`)), [
        404,
        { message: '404 Pipeline Schedule Not Found' },
      ])
})

test('a played schedule answers 201 and asks for one pipeline each time; its pipelines are listed, the oldest first', async () => {
  const { id } = await create()
  for (let time = 0; time < 2; time += 1)
    assert.deepEqual(said(await send('POST', `/${id}/play`)), [201, { message: '201 Created' }])
  const queued = (await queuedJobs(world(), playSchedule.name)).filter(({ payload }) => payload.id === id)
  assert.deepEqual(
    queued.map(({ payload }) => payload),
    [1, 2].map(() => ({ id, user_id: developer.id })),
  )
  for (const { payload } of queued)
    await playSchedule.run(world().opened.instance, { id: payload.id, user_id: payload.user_id ?? 0 })
  const list = await world().get(path(`/${id}/pipelines`), developer)
  const ids = pick(list, 'id') as number[]
  assert.deepEqual([pick(list, 'source'), ids], [['schedule', 'schedule'], ids.toSorted((a, b) => a - b)])
  const listed = async (query: string): Promise<unknown[]> =>
    pick(await world().get(path(`/${id}/pipelines?${query}`), developer), 'id')
  assert.deepEqual(await listed('sort=desc&per_page=1'), [ids[1]])
  assert.deepEqual(await listed('status=pending&scope=branches&created_after=2020-01-01T00:00:00Z'), ids)
  for (const none of ['status=failed', 'scope=tags', 'updated_before=2020-01-01T00:00:00Z'])
    assert.deepEqual(await listed(none), [])
  const shown = (await world().get(path(`/${id}`), developer)).body as Body
  assert.equal((shown['last_pipeline'] as Body).id, ids[1])
  await send('DELETE', `/${id}`)
  assert.equal((await world().get(`/projects/${project.id}/pipelines/${ids[1]}`, developer)).status, 200)
})
