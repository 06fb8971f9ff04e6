import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { makePipeline } from '../../../test/support/ci_engine.ts'
import { writeConfig } from '../../../test/support/config_commit.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { plannedJob } from '../../../test/support/planned_jobs.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Answered } from '../../../test/support/world.ts'
import { digestOf } from '../../access/tokens.ts'
import { openVariables } from '../../ci/creation/sealed_variables.ts'
import type { Project } from '../../db/schema/tables.ts'

const world = sharedWorld()
let project: Project
let owner: Someone
let token: string
let sha: string
before(async () => {
  const { make, call } = world()
  project = await make.project({ repository: 'empty' })
  owner = await make.memberOf('maintainer', { project })
  const made = await call('POST', `/projects/${project.id}/triggers`, {
    as: owner,
    body: { description: 'x' },
  })
  token = (made.body as { token: string }).token
  sha = writeConfig(world(), project, 'build:\n  script: make\n', 'ci')
})

const trigger = (body: object, path = `/projects/${project.id}/trigger/pipeline`): Promise<Answered> =>
  world().call('POST', path, { body })
const said = ({ status, body }: Answered): unknown[] => [status, body]
const base = (text: string): unknown[] => [400, { message: { base: [text] } }]

test('a trigger token starts a pipeline in the name of its owner', async () => {
  const answer = await trigger({ token, ref: 'ci', variables: { COLOR: 'red' } })
  assert.equal(answer.status, 201, answer.text)
  const { id, user, detailed_status, ...rest } = answer.body as Record<string, unknown>
  assert.deepEqual(
    [rest['sha'], rest['ref'], rest['source'], rest['status'], rest['tag'], rest['project_id']],
    [sha, 'ci', 'trigger', 'created', false, project.id],
  )
  assert.equal((user as { id: number }).id, owner.id)
  assert.equal((detailed_status as { group: string }).group, 'created')
  const row = await rowOf<{ variables: Buffer; status: string }>(
    world(),
    'select variables, status from pipelines where id = $1',
    [id],
  )
  assert.equal(row.status, 'pending')
  const [color, payload] = openVariables(world().opened.instance.vault, row.variables)
  assert.deepEqual(color, { key: 'COLOR', value: 'red' })
  assert.deepEqual([payload?.key, payload?.file], ['TRIGGER_PAYLOAD', true])
  assert.deepEqual(JSON.parse(payload?.value ?? ''), {
    id: String(project.id),
    ref: 'ci',
    variables: { COLOR: 'red' },
  })
  const used = await rowOf<{ last_used_at: Date | null }>(
    world(),
    'select last_used_at from trigger_tokens where project_id = $1',
    [project.id],
  )
  assert.ok(used.last_used_at)
})

test('query, form and address give the ref; the address wins', async () => {
  const path = `/projects/${encodeURIComponent(project.full_path)}`
  const query = await world().call('POST', `${path}/trigger/pipeline?token=${token}&ref=ci&variables[A]=1`)
  assert.equal(query.status, 201, query.text)
  const form = await world().call('POST', `${path}/trigger/pipeline`, {
    body: `token=${token}&ref=ci&variables[A]=1`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  assert.equal(form.status, 201, form.text)
  writeConfig(world(), project, 'build:\n  script: make\n', 'feature/x.1')
  const inPath = await trigger({ token, ref: 'nothing' }, `${path}/ref/feature%2Fx.1/trigger/pipeline`)
  assert.equal(inPath.status, 201, inPath.text)
  assert.equal((inPath.body as { ref: string }).ref, 'feature/x.1')
})

test('faults are told in the published words and order', async () => {
  const elsewhere = await world().make.project({ visibility: 'public' })
  assert.deepEqual(said(await trigger({ ref: 'ci' })), [400, { error: 'token is missing' }])
  assert.deepEqual(said(await trigger({ token })), [400, { error: 'ref is missing' }])
  assert.deepEqual(said(await trigger({ token, ref: 'ci', variables: 'x' })), [
    400,
    { error: 'variables is invalid' },
  ])
  assert.deepEqual(said(await trigger({ token: 'none', ref: 'ci', variables: { A: ['x'] } })), [
    400,
    { message: 'variables needs to be a map of key-valued strings' },
  ])
  const absent = [404, { message: '404 Not Found' }]
  assert.deepEqual(said(await trigger({ token, ref: 'ci' }, '/projects/987654321/trigger/pipeline')), absent)
  assert.deepEqual(said(await trigger({ token: 'none', ref: 'ci' })), absent)
  assert.deepEqual(said(await trigger({ token: owner.token, ref: 'ci' })), absent)
  assert.deepEqual(
    said(await trigger({ token, ref: 'ci' }, `/projects/${elsewhere.id}/trigger/pipeline`)),
    absent,
  )
  assert.deepEqual(said(await trigger({ token, ref: 'nothing' })), base('Reference not found'))
})

test('a configuration that is missing, wrong or empty is told as it is', async () => {
  writeConfig(world(), project, 'build:\n  stage: nowhere\n  script: make\n', 'wrong')
  writeConfig(world(), project, 'build:\n  script: make\n  rules: [{ when: never }]\n', 'filtered')
  const before = await rowsOf(world(), 'select id from pipelines')
  const wrong = await trigger({ token, ref: 'wrong' })
  assert.match(JSON.stringify(wrong.body), /build job: chosen stage nowhere does not exist/)
  assert.deepEqual(
    said(await trigger({ token, ref: 'filtered' })),
    base(
      'The resulting pipeline would have been empty. Review the rules configuration for the relevant jobs.',
    ),
  )
  await rowsOf(world(), `update projects set settings = '{"ci_config_path": "other.yml"}' where id = $1`, [
    project.id,
  ])
  assert.deepEqual(said(await trigger({ token, ref: 'ci' })), base('Missing CI config file'))
  await rowsOf(world(), `update projects set settings = '{}' where id = $1`, [project.id])
  assert.deepEqual(await rowsOf(world(), 'select id from pipelines'), before)
})

test('the owner of a token has the rights of this moment', async () => {
  const { make } = world()
  await make.member(owner, 'reporter', { project })
  assert.deepEqual(
    said(await trigger({ token, ref: 'ci' })),
    base('Insufficient permissions to create a new pipeline'),
  )
  await make.member(owner, 'maintainer', { project })
  await make.sql(`
    with b as (insert into protected_branches (project_id, name) values (${project.id}, 'ci') returning id)
    insert into protected_branch_levels (protected_branch_id, action, access_level) select id, unnest(array['push', 'merge']), 60 from b`)
  const answer = await trigger({ token, ref: 'ci' })
  assert.equal(answer.status, 400)
  assert.match(answer.text, /You do not have sufficient permission to run a pipeline on 'ci'/)
  await make.sql(`delete from protected_branches where project_id = ${project.id}`)
})

test('a webhook of a pipeline starts none', async () => {
  const answer = await world().call('POST', `/projects/${project.id}/trigger/pipeline`, {
    body: { token: 'none', ref: 'ci' },
    headers: { 'x-gitlab-event': 'Pipeline Hook' },
  })
  assert.deepEqual(said(answer), [403, { message: '403 Forbidden' }])
})

test('the token of a running job starts a pipeline of another project, and is linked to it', async () => {
  const { make } = world()
  const source = await make.project()
  const user = await make.memberOf('developer', { project: source })
  const pipeline = await makePipeline(world(), source, [plannedJob({ name: 'calls' })], { user_id: user.id })
  const jobToken = 'glcbt-calls'
  const { id } = await rowOf<{ id: number }>(
    world(),
    `update ci_jobs set status = 'running', token_digest = $2, contacted_at = now(), timeout = 60, started_at = now()
      where pipeline_id = $1 returning id`,
    [pipeline.id, digestOf(jobToken)],
  )
  const call = (): Promise<Answered> => trigger({ token: jobToken, ref: 'ci' })
  assert.deepEqual(said(await call()), [404, { message: '404 Not Found' }])
  await make.member(user, 'developer', { project })
  const answer = await call()
  assert.equal(answer.status, 201, answer.text)
  const { id: made, source: how } = answer.body as { id: number; source: string }
  assert.equal(how, 'pipeline')
  const row = await rowOf(world(), 'select source_job_id, user_id from pipelines where id = $1', [made])
  assert.deepEqual(row, { source_job_id: id, user_id: user.id })
  await rowsOf(world(), "update ci_jobs set status = 'success' where id = $1", [id])
  assert.deepEqual(said(await call()), [401, { message: 'Job is not running' }])
  await rowsOf(world(), 'update ci_jobs set erased_at = now() where id = $1', [id])
  assert.deepEqual(said(await call()), [401, { message: 'Job has been erased!' }])
})
