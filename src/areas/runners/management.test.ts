import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { makeRunner } from '../../../test/support/ci_engine.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { pick } from '../../../test/support/shares.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import type { Namespace, Project } from '../../db/schema/tables.ts'

const world = sharedWorld()
let group: Namespace
let project: Project
let other: Project
let admin: Someone
let owner: Someone
let maintainer: Someone
before(async () => {
  const { make } = world()
  group = await make.group()
  project = await make.project({ group })
  other = await make.project({ group })
  admin = await make.admin()
  owner = await make.memberOf('owner', { group })
  maintainer = await make.memberOf('maintainer', { project })
})

type Body = Readonly<Record<string, unknown>>
const call = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  as: Someone | undefined,
  body?: object,
): Promise<Answered> => world().call(method, path, { as, ...(body && { body }) })
async function create(as: Someone, body: object): Promise<{ readonly id: number; readonly token: string }> {
  const answer = await call('POST', '/user/runners', as, body)
  assert.equal(answer.status, 201, answer.text)
  return answer.body as { id: number; token: string }
}
const ofProject = (more: object = {}): Promise<{ readonly id: number; readonly token: string }> =>
  create(maintainer, { runner_type: 'project_type', project_id: project.id, ...more })
const refusal = ({ status, body }: Answered): unknown[] => [status, (body as Body)['message']]

test('a runner is described as published; only visible projects are named', async () => {
  const { id, token } = await ofProject({ description: 'ours', tag_list: 'b,a', maximum_timeout: 600 })
  await call('POST', '/runners/verify', undefined, {
    token,
    system_id: 's_1',
    info: { version: '17.9.0', revision: 'abc', platform: 'linux', architecture: 'amd64' },
  })
  await rowsOf(world(), 'insert into ci_runner_projects values ($1, $2)', [id, other.id])
  const { body } = await call('GET', `/runners/${id}`, maintainer)
  const { created_at, contacted_at, created_by, ...rest } = body as Body
  assert.ok(created_at && contacted_at)
  assert.equal((created_by as Body)['id'], maintainer.id)
  assert.deepEqual(rest, {
    id,
    description: 'ours',
    ip_address: null,
    active: true,
    paused: false,
    is_shared: false,
    runner_type: 'project_type',
    name: null,
    online: true,
    status: 'online',
    job_execution_status: 'idle',
    tag_list: ['a', 'b'],
    run_untagged: true,
    locked: false,
    maximum_timeout: 600,
    access_level: 'not_protected',
    version: '17.9.0',
    revision: 'abc',
    platform: 'linux',
    architecture: 'amd64',
    maintenance_note: null,
    projects: [
      {
        id: project.id,
        name: project.name,
        name_with_namespace: `${group.full_name} / ${project.name}`,
        path: project.path,
        path_with_namespace: project.full_path,
      },
    ],
    groups: [],
  })
  const managers = await call('GET', `/runners/${id}/managers`, maintainer)
  assert.deepEqual(pick(managers, 'system_id'), ['s_1'])
  assert.deepEqual(pick(managers, 'status'), ['online'])
  const outsider = await world().make.user()
  assert.deepEqual(refusal(await call('GET', `/runners/${id}`, outsider)), [
    403,
    '403 Forbidden - No access granted',
  ])
  assert.deepEqual(refusal(await call('GET', '/runners/987654', maintainer)), [404, '404 Runner Not Found'])
  const instance = await makeRunner(world())
  assert.equal((await call('GET', `/runners/${instance.id}`, outsider)).status, 200)
  assert.equal((await call('PUT', `/runners/${instance.id}`, outsider, { paused: true })).status, 403)
  const ofGroup = await create(owner, { runner_type: 'group_type', group_id: group.id })
  const shown = (await call('GET', `/runners/${ofGroup.id}`, owner)).body as Body
  assert.deepEqual(shown['groups'], [
    { id: group.id, web_url: `https://guild.example/groups/${group.full_path}`, name: group.name },
  ])
})

test('lists hold the runners of their place, by type, status, tags and version', async () => {
  await rowsOf(world(), 'delete from ci_runners', [])
  const instance = await makeRunner(world(), { tag_list: ['x'] })
  const ofGroup = await create(owner, { runner_type: 'group_type', group_id: group.id, tag_list: ['x', 'y'] })
  const own = await ofProject({ paused: true })
  const elsewhere = await create(owner, { runner_type: 'project_type', project_id: other.id })
  await rowsOf(
    world(),
    `update ci_runners set created_at = now() - interval '8 days', contacted_at = now() - interval '8 days'
      where id = $1`,
    [instance.id],
  )
  await call('POST', '/runners/verify', undefined, {
    token: ofGroup.token,
    system_id: 's_1',
    info: { version: '17.9.0' },
  })
  const ids = async (path: string, as: Someone): Promise<unknown[]> => pick(await call('GET', path, as), 'id')
  const projectRunners = `/projects/${project.id}/runners`
  const rows: [string, Someone, number[]][] = [
    ['/runners', maintainer, [own.id]],
    ['/runners', owner, [elsewhere.id, own.id, ofGroup.id]],
    ['/runners?type=group_type', owner, [ofGroup.id]],
    ['/runners?scope=paused', owner, [own.id]],
    ['/runners/all', admin, [elsewhere.id, own.id, ofGroup.id, instance.id]],
    ['/runners/all?scope=shared', admin, [instance.id]],
    ['/runners/all?scope=specific', admin, [elsewhere.id, own.id]],
    ['/runners/all?status=stale', admin, [instance.id]],
    ['/runners/all?status=online', admin, [ofGroup.id]],
    ['/runners/all?status=never_contacted', admin, [elsewhere.id, own.id]],
    ['/runners/all?status=offline', admin, [instance.id]],
    ['/runners/all?status=paused', admin, [own.id]],
    ['/runners/all?status=active&tag_list=x', admin, [ofGroup.id, instance.id]],
    ['/runners/all?paused=true', admin, [own.id]],
    ['/runners/all?tag_list=x,y', admin, [ofGroup.id]],
    ['/runners/all?version_prefix=17.', admin, [ofGroup.id]],
    [projectRunners, maintainer, [own.id, ofGroup.id, instance.id]],
    [`${projectRunners}?type=project_type`, maintainer, [own.id]],
    [`/groups/${group.id}/runners`, owner, [ofGroup.id, instance.id]],
    [`/groups/${group.id}/runners?per_page=1&page=2`, owner, [instance.id]],
  ]
  for (const [path, as, expected] of rows) assert.deepEqual(await ids(path, as), expected, path)
  const list = await call('GET', '/runners/all?per_page=2', admin)
  assert.equal(list.headers['x-total'], '4')
  assert.equal((await call('GET', '/runners/all?status=odd', admin)).status, 400)
  assert.deepEqual(refusal(await call('GET', '/runners/all', owner)), [403, '403 Forbidden'])
})

test('a change needs a field, keeps the others and lets the runner take what it newly may', async () => {
  const { id } = await ofProject({ tag_list: ['a'] })
  const put = (body: object): Promise<Answered> => call('PUT', `/runners/${id}`, maintainer, body)
  const empty = await put({})
  assert.equal(empty.status, 400)
  assert.match(String((empty.body as Body)['error']), /at least one parameter must be provided$/)
  assert.equal((await put({ maximum_timeout: 599 })).status, 400)
  assert.equal((await put({ active: true, paused: true })).status, 400)
  const changed = (await put({ active: false, tag_list: ['d', 'c', 'd'], description: 'new' })).body as Body
  assert.deepEqual(
    [changed['paused'], changed['tag_list'], changed['description'], changed['run_untagged']],
    [true, ['c', 'd'], 'new', true],
  )
  const noTags = { tags_list: ['can not be empty when runner is not allowed to pick untagged jobs'] }
  assert.equal((await put({ run_untagged: false })).status, 200)
  assert.deepEqual(refusal(await put({ tag_list: [] })), [400, noTags])
})

test('a runner of several projects is deleted by administrators only', async () => {
  const { id } = await ofProject()
  const add = await call('POST', `/projects/${other.id}/runners`, owner, { runner_id: id })
  assert.equal(add.status, 201, add.text)
  assert.equal((add.body as Body)['id'], id)
  assert.deepEqual(refusal(await call('DELETE', `/runners/${id}`, owner)), [
    403,
    '403 Forbidden - Runner associated with more than one project',
  ])
  assert.equal((await call('DELETE', `/runners/${id}`, admin)).status, 204)
  assert.equal((await call('GET', `/runners/${id}`, admin)).status, 404)
  const single = await ofProject()
  assert.equal((await call('DELETE', `/runners/${single.id}`, maintainer)).status, 204)
})

test('a runner is enabled in projects of those who manage it, and stays with the one that owns it', async () => {
  const { id } = await ofProject()
  const add = (as: Someone, runner_id: number): Promise<Answered> =>
    call('POST', `/projects/${other.id}/runners`, as, { runner_id })
  const reason = (text: string): unknown[] => [403, `403 Forbidden - ${text}`]
  const ofGroup = await create(owner, { runner_type: 'group_type', group_id: group.id })
  const foreign = await world().make.project()
  const stranger = await world().make.memberOf('maintainer', { project: foreign })
  const theirs = await create(stranger, { runner_type: 'project_type', project_id: foreign.id })
  assert.deepEqual(refusal(await add(owner, ofGroup.id)), reason('Runner is a group runner'))
  assert.deepEqual(refusal(await add(owner, theirs.id)), reason('No access granted'))
  assert.deepEqual(refusal(await add(owner, (await makeRunner(world())).id)), reason('No access granted'))
  assert.deepEqual(refusal(await add(owner, 987654)), [404, '404 Runner Not Found'])
  await call('PUT', `/runners/${id}`, owner, { locked: true })
  assert.deepEqual(refusal(await add(owner, id)), reason('Runner is locked'))
  assert.equal((await add(admin, id)).status, 201)
  assert.deepEqual(refusal(await add(admin, id)), [
    400,
    { 'runner_projects.runner_id': ['has already been taken'] },
  ])
  const remove = (of: Project): Promise<Answered> => call('DELETE', `/projects/${of.id}/runners/${id}`, owner)
  assert.deepEqual(
    refusal(await remove(project)),
    reason('Only one project associated with the runner. Please remove the runner instead'),
  )
  assert.equal((await remove(other)).status, 204)
  assert.deepEqual(refusal(await remove(other)), [404, '404 Runner Not Found'])
})

test('registration tokens register runners of their place, and a reset ends them', async () => {
  const register = (body: object): Promise<Answered> => call('POST', '/runners', undefined, body)
  const places: [string, Someone, string, object][] = [
    ['/runners', admin, 'instance_type', { group_id: null }],
    [`/groups/${group.id}/runners`, owner, 'group_type', { group_id: group.id }],
    [`/projects/${project.id}/runners`, maintainer, 'project_type', { group_id: null }],
  ]
  for (const [path, as, type, row] of places) {
    const reset = async (): Promise<string> => {
      const answer = await call('POST', `${path}/reset_registration_token`, as)
      assert.equal(answer.status, 201, answer.text)
      return (answer.body as { token: string }).token
    }
    const old = await reset()
    const token = await reset()
    assert.match(token, /^GR1348941/)
    assert.deepEqual(refusal(await register({ token: old })), [403, '403 Forbidden'])
    const made = await register({
      token,
      tag_list: 'b,a',
      description: 'one',
      info: { name: 'x' },
      locked: true,
    })
    assert.equal(made.status, 201, made.text)
    const { id, token: own } = made.body as { id: number; token: string }
    assert.match(own, /^glrtr-/)
    const { runner_type, group_id, tag_list, locked } = await rowOf<Body>(
      world(),
      'select * from ci_runners where id = $1',
      [id],
    )
    assert.deepEqual([runner_type, { group_id }, tag_list, locked], [type, row, ['a', 'b'], true])
    assert.equal((await call('POST', '/runners/verify', undefined, { token: own })).status, 200)
  }
  assert.deepEqual((await register({})).body, { error: 'token is missing' })
})

test('a runner registers and renews its token although it repeats it in the header of a user token', async () => {
  const { token } = (await call('POST', '/runners/reset_registration_token', admin)).body as { token: string }
  const send = (path: string, given: string): Promise<Answered> =>
    world().call('POST', path, { body: { token: given }, headers: { 'private-token': given } })
  const made = await send('/runners', token)
  assert.equal(made.status, 201, made.text)
  const { token: own } = made.body as { token: string }
  assert.equal((await send('/runners/verify', own)).status, 200)
  assert.equal((await send('/runners/reset_authentication_token', own)).status, 201)
  assert.equal((await send('/runners', 'GR1348941none')).status, 403)
})

test('a created group registers runners with the token that its Owners read', async () => {
  const made = await call('POST', '/groups', admin, { name: 'Quay', path: 'quay' })
  const { runners_token: token } = made.body as { runners_token: string }
  assert.equal((await call('POST', '/runners', undefined, { token })).status, 201)
})

test('another token takes the place of a runner’s own', async () => {
  const { id, token } = await ofProject()
  const verify = async (given: string): Promise<number> =>
    (await call('POST', '/runners/verify', undefined, { token: given })).status
  const one = await call('POST', `/runners/${id}/reset_authentication_token`, maintainer)
  assert.equal(one.status, 201)
  const { token: second, token_expires_at } = one.body as { token: string; token_expires_at: null }
  assert.equal(token_expires_at, null)
  assert.deepEqual([await verify(token), await verify(second)], [403, 200])
  const two = await call('POST', '/runners/reset_authentication_token', undefined, { token: second })
  assert.equal(two.status, 201)
  const third = (two.body as { token: string }).token
  assert.deepEqual([await verify(second), await verify(third)], [403, 200])
  assert.equal(
    (await call('POST', '/runners/reset_authentication_token', undefined, { token: second })).status,
    403,
  )
})

test('the plan limits the runners of a project and a group', async () => {
  const limited = await world().make.project({ group })
  await call('PUT', '/application/plan_limits', admin, {
    plan_name: 'default',
    ci_registered_project_runners: 1,
    ci_registered_group_runners: 1,
  })
  const ofLimited = { runner_type: 'project_type', project_id: limited.id }
  const answers = await Promise.all([1, 2, 3].map(() => call('POST', '/user/runners', admin, ofLimited)))
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 400, 400],
  )
  const text = 'Maximum number of ci registered project runners (1) exceeded'
  const refused = answers.find(({ status }) => status === 400)
  assert.ok(refused)
  assert.deepEqual(refusal(refused), [400, { 'runner_projects.base': [text] }])
  await rowsOf(
    world(),
    "update ci_runners set created_at = now() - interval '8 days', contacted_at = null",
    [],
  )
  assert.equal((await call('POST', '/user/runners', admin, ofLimited)).status, 201)
  const ofGroup = { runner_type: 'group_type', group_id: group.id }
  assert.equal((await call('POST', '/user/runners', owner, ofGroup)).status, 201)
  assert.deepEqual(refusal(await call('POST', '/user/runners', owner, ofGroup)), [
    400,
    { 'runner_namespaces.base': ['Maximum number of ci registered group runners (1) exceeded'] },
  ])
})
