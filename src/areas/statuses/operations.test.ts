import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Someone } from '../../../test/support/makers.ts'
import { rowsOf } from '../../../test/support/rows.ts'
import { writeSmallHistory, type SmallHistory } from '../../../test/support/small_history.ts'
import { contents, sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { RoleName } from '../../core/sight/roles.ts'
import type { Project } from '../../db/schema/tables.ts'

let history: SmallHistory
let developer: Someone
const world = sharedWorld(async ({ make }) => {
  history = writeSmallHistory()
  developer = await make.user()
})

async function fresh(visibility: 'public' | 'private' = 'private'): Promise<Project> {
  const { make } = world()
  const project = await make.project({ visibility, repository: history.directory })
  await make.member(developer, 'developer', { project })
  return project
}
const say = (
  project: Project,
  rev: string,
  body: object,
  as: Someone | undefined = developer,
): Promise<Answered> =>
  world().call('POST', `/projects/${project.id}/statuses/${encodeURIComponent(rev)}`, { as, body })
const list = (project: Project, rev: string, query = ''): Promise<Answered> =>
  world().get(
    `/projects/${project.id}/repository/commits/${encodeURIComponent(rev)}/statuses${query}`,
    developer,
  )
type Status = { id: number; name: string; status: string; pipeline_id: number; ref: string }
const items = ({ body }: Answered): Status[] => body as Status[]
const commit = async (project: Project, rev: string): Promise<Record<string, unknown>> =>
  (await world().get(`/projects/${project.id}/repository/commits/${rev}`, developer)).body as Record<
    string,
    unknown
  >

test('a commit status is shown with all fields and creates a pipeline', async () => {
  const project = await fresh()
  const { sha } = history
  const answer = await say(project, sha.change, {
    state: 'success',
    ref: 'main',
    name: 'ci/build',
    target_url: 'https://ci.example/1',
    description: 'It compiles',
    coverage: 98.5,
  })
  assert.equal(answer.status, 201, answer.text)
  const { id, created_at, finished_at, pipeline_id, ...rest } = answer.body as Status & Record<string, string>
  assert.ok(id > 0 && pipeline_id > 0)
  assert.match(String(created_at), /^\d{4}-\d\d-\d\dT.*Z$/)
  assert.match(String(finished_at), /^\d{4}-\d\d-\d\dT.*Z$/)
  assert.deepEqual(rest, {
    sha: sha.change,
    ref: 'main',
    status: 'success',
    name: 'ci/build',
    target_url: 'https://ci.example/1',
    description: 'It compiles',
    started_at: null,
    allow_failure: false,
    coverage: 98.5,
    author: {
      id: developer.id,
      username: developer.username,
      name: developer.name,
      state: 'active',
      locked: false,
      avatar_url: null,
      web_url: `https://guild.example/${developer.username}`,
    },
  })
  assert.deepEqual((await list(project, sha.change)).body, [answer.body])
  const shown = await commit(project, sha.change)
  assert.equal(shown['status'], 'success')
  const {
    created_at: made,
    updated_at: changed,
    ...pipeline
  } = shown['last_pipeline'] as Record<string, unknown>
  assert.ok(made !== undefined && changed !== undefined)
  assert.deepEqual(pipeline, {
    id: pipeline_id,
    iid: 1,
    project_id: project.id,
    sha: sha.change,
    ref: 'main',
    status: 'success',
    source: 'external',
    web_url: `https://guild.example/${project.full_path}/-/pipelines/${pipeline_id}`,
  })
  assert.equal((await commit(project, sha.root))['status'], null)
})

test('of one name the open status moves on, and a closed one is followed by another', async () => {
  const project = await fresh()
  const states = async (query = ''): Promise<string[]> =>
    items(await list(project, 'main', query)).map((one) => `${one.name} ${one.status}`)
  const first = await say(project, 'main', { state: 'pending', context: 'ci' })
  const second = await say(project, 'main', { state: 'running', context: 'ci' })
  assert.equal(items(first as never).constructor, Object)
  assert.equal((second.body as Status).id, (first.body as Status).id)
  const stuck = await say(project, 'main', { state: 'running', name: 'ci' })
  assert.deepEqual(
    [stuck.status, stuck.body],
    [
      400,
      {
        message:
          'Cannot transition status via :run from :running (Reason(s): Status cannot transition via "run")',
      },
    ],
  )
  await say(project, 'main', { state: 'failed', name: 'ci', description: 'no' })
  assert.deepEqual(await states(), ['ci failed'])
  const again = await say(project, 'main', { state: 'success', name: 'ci' })
  assert.notEqual((again.body as Status).id, (first.body as Status).id)
  assert.equal((again.body as Status).pipeline_id, (first.body as Status).pipeline_id)
  assert.deepEqual(await states(), ['ci success'])
  assert.deepEqual(await states('?all=true'), ['ci failed', 'ci success'])
  assert.equal((await commit(project, 'main'))['status'], 'success')
  await say(project, 'main', { state: 'pending' })
  assert.deepEqual(await states(), ['ci success', 'default pending'])
  assert.equal((await commit(project, 'main'))['status'], 'running')
})

test('the list is filtered, ordered and paged', async () => {
  const project = await fresh()
  for (const [name, ref] of [
    ['a', 'main'],
    ['b', 'main'],
    ['a', 'v1.0'],
  ] as const)
    assert.equal((await say(project, 'v1.0', { state: 'success', name, ref })).status, 201)
  const rows: [string, string[]][] = [
    ['', ['a main', 'b main', 'a v1.0']],
    ['?sort=desc', ['a v1.0', 'b main', 'a main']],
    ['?order_by=pipeline_id&sort=desc', ['a v1.0', 'b main', 'a main']],
    ['?ref=main', ['a main', 'b main']],
    ['?name=a', ['a main', 'a v1.0']],
    ['?name=a&ref=v1.0', ['a v1.0']],
    ['?stage=external', ['a main', 'b main', 'a v1.0']],
    ['?stage=test', []],
    ['?pipeline_id=999999', []],
    ['?per_page=2&page=2', ['a v1.0']],
    ['?page=9', []],
  ]
  for (const [query, names] of rows) {
    const found = items(await list(project, history.sha.change, query))
    assert.deepEqual(
      found.map((one) => `${one.name} ${one.ref}`),
      names,
      query,
    )
  }
  const page = await list(project, 'v1.0', '?per_page=2')
  assert.deepEqual([page.headers['x-total'], page.headers['x-total-pages']], ['3', '2'])
  assert.deepEqual((await list(project, 'root')).body, { message: '404 Commit Not Found' })
  const [first] = items(page)
  const inOne = items(await list(project, 'v1.0', `?pipeline_id=${first?.pipeline_id}`))
  assert.equal(inOne.length, 2)
})

test('a pipeline can be named, and must be of the commit', async () => {
  const project = await fresh()
  const { pipeline_id } = (await say(project, 'main', { state: 'success' })).body as Status
  const joined = await say(project, 'main', { state: 'failed', name: 'x', ref: 'other', pipeline_id })
  assert.equal((joined.body as Status).pipeline_id, pipeline_id)
  for (const [rev, id] of [
    [history.sha.root, pipeline_id],
    ['main', 999_999],
  ] as const) {
    const answer = await say(project, rev, { state: 'success', name: 'y', pipeline_id: id })
    assert.deepEqual([answer.status, answer.body], [404, { message: '404 Pipeline Not Found' }])
  }
})

test('without a ref it is that of a branch which holds the commit, the default branch first', async () => {
  const project = await fresh()
  const { sha } = history
  assert.equal(((await say(project, sha.docs, { state: 'success' })).body as Status).ref, 'main')
  assert.equal(
    ((await say(project, sha.docs, { state: 'success', ref: 'refs/heads/x' })).body as Status).ref,
    'x',
  )
})

test('nonsense is refused and changes nothing', async () => {
  const project = await fresh()
  const before = await contents(world())
  const rows: [object, unknown][] = [
    [{}, { error: 'state is missing' }],
    [{ state: 'fine' }, { error: 'state does not have a valid value' }],
    [{ state: 'success', coverage: 'x' }, { error: 'coverage is invalid' }],
    [{ state: 'success', pipeline_id: 'x' }, { error: 'pipeline_id is invalid' }],
    [
      { state: 'success', target_url: 'javascript:1' },
      { message: { target_url: ['is blocked: Only allowed schemes are http, https'] } },
    ],
    [
      { state: 'success', description: 'x'.repeat(256) },
      { message: { description: ['is too long (maximum is 255 characters)'] } },
    ],
  ]
  for (const [body, refusal] of rows) {
    const answer = await say(project, 'main', body)
    assert.deepEqual([answer.status, answer.body], [400, refusal])
  }
  assert.equal(await contents(world()), before)
})

test('Developers speak about commits; whoever reads the code hears them', async () => {
  const { make } = world()
  const group = await make.group()
  const least: Record<RoleName, [number, number]> = {
    no_access: [404, 404],
    minimal_access: [404, 404],
    guest: [403, 403],
    planner: [403, 403],
    reporter: [403, 200],
    developer: [201, 200],
    maintainer: [201, 200],
    owner: [201, 200],
  }
  const project = await make.project({ group, visibility: 'private', repository: history.directory })
  const path = `/projects/${project.id}/repository/commits/main/statuses`
  for (const [role, statuses] of Object.entries(least) as [RoleName, [number, number]][]) {
    const as = await make.memberOf(role, role === 'minimal_access' ? { group } : { project })
    const wrote = await say(project, 'main', { state: 'success', name: role }, as)
    assert.deepEqual([wrote.status, (await world().get(path, as)).status], statuses, role)
  }
  const open = await fresh('public')
  assert.deepEqual(
    [
      (await world().call('POST', `/projects/${open.id}/statuses/main`, { body: { state: 'success' } })).body,
      (await say(open, 'main', { state: 'success' }, await make.user())).body,
      (await world().call('POST', `/projects/${project.id}/statuses/main`, { body: {} })).body,
      (await say(open, 'nowhere', { state: 'success' })).body,
    ],
    [
      { message: '401 Unauthorized' },
      { message: '403 Forbidden' },
      { message: '404 Project Not Found' },
      { message: '404 Commit Not Found' },
    ],
  )
  assert.deepEqual((await world().get(`/projects/${open.id}/repository/commits/main/statuses`)).body, [])
})

test('many who speak at once make one pipeline, and every name is kept', async () => {
  const project = await fresh()
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, i) => say(project, 'main', { state: 'success', name: `n${i % 6}` })),
  )
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [201])
  assert.equal(new Set(answers.map(({ body }) => (body as Status).pipeline_id)).size, 1)
  assert.equal(items(await list(project, 'main')).length, 6)
  assert.equal(items(await list(project, 'main', '?all=true')).length, 12)
  const [row] = await rowsOf(world(), 'select count(*)::int as n from pipelines where project_id = $1', [
    project.id,
  ])
  assert.deepEqual(row, { n: 1 })
})

test('a list costs as many statements for one status as for many', async () => {
  const project = await fresh()
  const cost = async (): Promise<number> =>
    (await world().statements(() => list(project, 'main', '?all=true&per_page=100'))).length
  await say(project, 'main', { state: 'success' })
  const one = await cost()
  for (let i = 0; i < 9; i += 1) await say(project, 'main', { state: 'success', name: `n${i}` })
  assert.equal(await cost(), one)
})

test('statuses are read by those who see the pipelines', async () => {
  const { make, call, get } = world()
  const project = await fresh('public')
  assert.equal((await say(project, 'main', { state: 'success' })).status, 201)
  const [maintainer, guest, reporter] = [
    await make.memberOf('maintainer', { project }),
    await make.memberOf('guest', { project }),
    await make.memberOf('reporter', { project }),
  ]
  const seen = async (settings: object): Promise<unknown[]> => {
    const body = { public_jobs: true, builds_access_level: 'enabled', ...settings }
    assert.equal((await call('PUT', `/projects/${project.id}`, { as: maintainer, body })).status, 200)
    const path = `/projects/${project.id}/repository/commits/main/statuses`
    const answers = await Promise.all([undefined, guest, reporter].map((as) => get(path, as)))
    return answers.map(({ status, body: items }) => [status, Array.isArray(items) ? items.length : items])
  }
  const [open, shut] = [
    [200, 1],
    [403, { message: '403 Forbidden' }],
  ]
  assert.deepEqual(await seen({}), [open, open, open])
  assert.deepEqual(await seen({ public_jobs: false }), [shut, shut, open])
  assert.deepEqual(await seen({ builds_access_level: 'private' }), [shut, open, open])
  assert.deepEqual(await seen({ builds_access_level: 'disabled' }), [shut, shut, shut])
})
