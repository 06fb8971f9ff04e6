import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { makePipeline, makeRunner } from '../../../test/support/ci_engine.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { plannedJob } from '../../../test/support/planned_jobs.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import { digestOf, makeToken } from '../../access/tokens.ts'
import type { Project } from '../../db/schema/tables.ts'

const world = sharedWorld()
let admin: Someone
let project: Project
before(async () => {
  const { make } = world()
  admin = await make.admin()
  project = await make.project()
})

const ask = (method: 'POST' | 'DELETE', token: string, as = admin): Promise<Answered> =>
  world().call(method, '/admin/token', { as, body: { token } })
const said = ({ status, body }: Answered): [number, unknown] => [status, body]
const IRREVOCABLE = [422, { message: 'Unsupported token type' }]
const NOT_FOUND = [404, { message: { error: 'Not found' } }]

interface Audited {
  readonly event_type: string
  readonly entity_type: string
  readonly entity_id: number
  readonly details: {
    readonly target_type: string
    readonly target_id: number
    readonly target_details: string
  }
}
/** The audit events about a target, as `type of act, entity, target`. */
async function auditOf(type: string, id: number): Promise<unknown[]> {
  const rows = await rowsOf<Audited>(
    world(),
    `select event_type, entity_type, entity_id, details from audit_events
      where details->>'target_type' = $1 and (details->>'target_id')::bigint = $2 order by id`,
    [type, id],
  )
  return rows.map((row) => [row.event_type, row.entity_type, row.entity_id, row.details.target_details])
}

test('a trigger token is told with its record, whole for its owner alone, and is not revoked', async () => {
  const owner = await world().make.memberOf('maintainer', { project })
  const made = await world().call('POST', `/projects/${project.id}/triggers`, {
    as: owner,
    body: { description: 'nightly' },
  })
  const token = made.body as { id: number; token: string }
  assert.deepEqual(said(await ask('POST', token.token)), [200, { ...token, token: 'glpt' }])
  assert.deepEqual(said(await ask('DELETE', token.token)), IRREVOCABLE)
  assert.equal((await world().get(`/projects/${project.id}/triggers/${token.id}`, owner)).status, 200)
  assert.deepEqual(await auditOf('Ci::Trigger', token.id), [
    ['admin_token_introspected', 'Project', project.id, 'nightly'],
  ])
})

test('a runner token is told with its runner, and reset: the runner is refused from then on', async () => {
  const group = await world().make.group()
  for (const place of [{ project }, { group }, {}]) {
    const token = makeToken('glrt-')
    const values = 'group' in place ? ({ runner_type: 'group_type', group_id: group.id } as const) : {}
    const { id } = await makeRunner(world(), { token, ...values })
    if ('project' in place)
      await rowsOf(
        world(),
        `with owned as (update ci_runners set runner_type = 'project_type' where id = $1)
         insert into ci_runner_projects (runner_id, project_id) values ($1, $2)`,
        [id, project.id],
      )
    const told = await ask('POST', token)
    assert.deepEqual([told.status, (told.body as { id: number }).id], [200, id])
    const verify = (): Promise<Answered> => world().call('POST', '/runners/verify', { body: { token } })
    assert.equal((await verify()).status, 200)
    const reset = await ask('DELETE', token)
    assert.deepEqual([reset.status, reset.text], [204, ''])
    assert.equal((await verify()).status, 403)
    assert.deepEqual(said(await ask('POST', token)), NOT_FOUND)
    assert.equal((await rowsOf(world(), 'select from ci_runners where id = $1', [id])).length, 1)
    const entity =
      'project' in place
        ? ['Project', project.id]
        : 'group' in place
          ? ['Group', group.id]
          : ['User', admin.id]
    assert.deepEqual(
      (await auditOf('Ci::Runner', id)).map((row) => (row as unknown[]).slice(0, 3)),
      ['introspected', 'revoked'].map((act) => [`admin_token_${act}`, ...entity]),
    )
  }
})

test('the token of a job is told with its job, also when the job is over, and is not revoked', async () => {
  const pipeline = await makePipeline(world(), project, [plannedJob({ name: 'build' })], {
    user_id: admin.id,
  })
  const token = makeToken('glcbt-')
  const { id } = await rowOf<{ id: number }>(
    world(),
    'update ci_jobs set token_digest = $2 where pipeline_id = $1 returning id',
    [pipeline.id, digestOf(token)],
  )
  const { body, status } = await ask('POST', token)
  const { job } = body as { job: Record<string, unknown> }
  assert.deepEqual(
    [status, job['id'], job['name'], job['pipeline_id'], job['project_id'], job['user_id'], job['web_url']],
    [
      200,
      id,
      'build',
      pipeline.id,
      project.id,
      admin.id,
      `https://guild.example/${project.full_path}/-/jobs/${id}`,
    ],
  )
  assert.deepEqual(said(await ask('DELETE', token)), IRREVOCABLE)
  assert.deepEqual(await auditOf('Ci::Build', id), [
    ['admin_token_introspected', 'Project', project.id, 'build'],
  ])
})

test('a deploy token is told with its record, and revoked: its record stays', async () => {
  const owner = await world().make.memberOf('maintainer', { project })
  const made = await world().call('POST', `/projects/${project.id}/deploy_tokens`, {
    as: owner,
    body: { name: 'ci', scopes: ['read_repository'] },
  })
  const { token, ...record } = made.body as { id: number; token: string }
  assert.deepEqual(said(await ask('POST', token)), [200, record])
  assert.equal((await ask('DELETE', token)).status, 204)
  assert.deepEqual(said(await ask('POST', token)), [200, { ...record, revoked: true }])
  assert.deepEqual(
    await auditOf('DeployToken', record.id),
    ['introspected', 'revoked', 'introspected'].map((act) => [
      `admin_token_${act}`,
      'Project',
      project.id,
      'ci',
    ]),
  )
})

test('published prefixes of which there is no token are not found', async () => {
  for (const prefix of 'glptt- glrt- glrtr- glcbt- gldt- glft- gloas- glagent- glffct- glimt-'.split(' '))
    for (const method of ['POST', 'DELETE'] as const)
      assert.deepEqual(said(await ask(method, `${prefix}0123456789abcdef`)), NOT_FOUND, prefix)
})

test('the answer to an unknown token of each kind costs the same statements', async () => {
  const counts = new Set<number>()
  await ask('POST', 'glptt-none')
  for (const prefix of ['glpat-', 'glptt-', 'glrt-', 'glcbt-'])
    counts.add((await world().statements(() => ask('POST', `${prefix}none`))).length)
  assert.deepEqual([...counts], [2])
})

test('tokens of all kinds are for administrators alone, and none reaches a log or an audit event', async () => {
  const token = makeToken('glrt-')
  const { id } = await makeRunner(world(), { token })
  for (const method of ['POST', 'DELETE'] as const)
    assert.deepEqual(said(await ask(method, token, await world().make.user())), [
      403,
      { message: '403 Forbidden' },
    ])
  await ask('POST', token)
  await ask('DELETE', token)
  const audited = JSON.stringify(await auditOf('Ci::Runner', id))
  assert.ok(!world().logs.join('').includes(token) && !audited.includes(token))
})
