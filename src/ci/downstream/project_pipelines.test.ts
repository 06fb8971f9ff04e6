import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { writeConfig } from '../../../test/support/config_commit.ts'
import {
  downstreamOf,
  jobNamed,
  pipelineRow,
  runJob,
  settleBridges,
  shown,
  startPipeline,
  turnIn,
} from '../../../test/support/downstream.ts'
import type { Someone } from '../../../test/support/makers.ts'
import { rowOf, rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import type { Project } from '../../db/schema/tables.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import { findInconsistencies } from '../check.ts'
import { openVariables } from '../creation/sealed_variables.ts'
import { cancelPipeline, retryPipeline } from '../pipeline_actions.ts'
import { applyTime } from '../watch.ts'

const world = sharedWorld()
let project: Project
let target: Project
let user: Someone
before(async () => {
  const { make } = world()
  project = await make.project({ repository: 'empty' })
  user = await make.memberOf('maintainer', { project })
  target = await targetOf('developer')
})

const TARGET = 'build: {script: make}\n'
/** A private project whose default branch has a configuration, and a role of the user on it. */
async function targetOf(role?: 'reporter' | 'developer' | 'maintainer', config = TARGET): Promise<Project> {
  const { make } = world()
  const made = await make.project({ repository: 'empty' })
  writeConfig(world(), made, config, 'main')
  await rowOf(world(), `update projects set default_branch = 'main' where id = $1 returning id`, [made.id])
  if (role !== undefined) await make.member(user, role, { project: made })
  return made
}
const start = (config: string, as = user): Promise<Pipeline> =>
  startPipeline(world(), { project, as, config })
const trigger = (to: Project, more = ', strategy: depend'): string =>
  `down: {trigger: {project: ${to.full_path}${more}}}\nlater: {stage: deploy, script: make}\n`
const sees = async (pipeline: { readonly id: number }, expected: string): Promise<void> => {
  assert.equal(await shown(world(), pipeline), expected)
  assert.deepEqual(await findInconsistencies(world().opened.client), [])
}

test('a bridge starts the default branch of another project, and mirrors how that ends', async () => {
  const up = await start(trigger(target))
  await sees(up, 'running, down running, later created')
  const down = await downstreamOf(world(), up, 'down')
  assert.deepEqual(
    [down.project_id, down.source, down.ref, down.parent_id, down.user_id],
    [target.id, 'pipeline', 'main', null, user.id],
  )
  await runJob(world(), down, 'build', 'failed')
  await settleBridges(world())
  await sees(up, 'failed, down failed, later skipped')
  await turnIn(world(), target.id, (now) => retryPipeline(now, down.id, user.id))
  await settleBridges(world())
  await sees(up, 'running, down running, later created')
  await runJob(world(), down, 'build')
  await settleBridges(world())
  await sees(up, 'running, down success, later pending')
})

test('a canceled pipeline leaves those of other projects, and stays canceled', async () => {
  const up = await start(trigger(target))
  const down = await downstreamOf(world(), up, 'down')
  await turnIn(world(), project.id, (now) => cancelPipeline(now, up.id))
  await sees(down, 'pending, build pending')
  await runJob(world(), down, 'build')
  await settleBridges(world())
  await sees(up, 'canceled, down canceled, later canceled')
})

test('a bridge expands its branch and project, and forwards its variables', async () => {
  writeConfig(world(), target, TARGET, 'ci')
  const up = await start(
    `down: {variables: {WHERE: $CI_PROJECT_PATH}, trigger: {project: ${target.full_path}, branch: $CI_COMMIT_BRANCH}}`,
  )
  const down = await downstreamOf(world(), up, 'down')
  assert.equal(down.ref, 'ci')
  assert.deepEqual(openVariables(world().opened.instance.vault, down.variables), [
    { key: 'WHERE', value: project.full_path },
  ])
})

test('a bridge has the rights of its user: hidden projects are absent, others are refused', async () => {
  const { make } = world()
  const hidden = await targetOf()
  const seen = await targetOf('reporter')
  const open = await make.project({ visibility: 'public', repository: 'empty' })
  const guarded = await targetOf('developer')
  await make.sql(`insert into protected_branches (project_id, name) values (${guarded.id}, 'main')`)
  const cases: readonly (readonly [string, string])[] = [
    ['none/such', 'downstream_bridge_project_not_found'],
    [hidden.full_path, 'downstream_bridge_project_not_found'],
    [seen.full_path, 'insufficient_bridge_permissions'],
    [open.full_path, 'insufficient_bridge_permissions'],
    [guarded.full_path, 'insufficient_bridge_permissions'],
    [project.full_path, 'invalid_bridge_trigger'],
    [`{project: ${target.full_path}, branch: none}`, 'downstream_pipeline_creation_failed'],
  ]
  for (const [to, reason] of cases) {
    const up = await start(`down: {trigger: ${to}}`)
    const bridge = await jobNamed(world(), up, 'down')
    assert.deepEqual([bridge.failure_reason, bridge.downstream_id], [reason, null], to)
    await sees(up, 'failed, down failed')
  }
})

test('rights count at the moment of the bridge, not of its pipeline', async () => {
  const { make } = world()
  const late = await make.memberOf('maintainer', { project })
  await make.member(late, 'developer', { project: target })
  const up = await start(`build: {stage: .pre, script: make}\n${trigger(target)}`, late)
  await rowsOf(world(), 'delete from members where user_id = $1 and project_id = $2', [late.id, target.id])
  await runJob(world(), up, 'build')
  await settleBridges(world())
  assert.equal((await jobNamed(world(), up, 'down')).failure_reason, 'downstream_bridge_project_not_found')
})

test('projects that trigger each other stop after two rounds', async () => {
  const other = await targetOf('developer')
  const config = (to: Project): string =>
    `again: {trigger: {project: ${to.full_path}, branch: ci, strategy: depend}}`
  writeConfig(world(), other, config(project), 'ci')
  const first = await start(config(other))
  const made = await rowsOf<{ project_id: number; id: number }>(
    world(),
    'select id, project_id from pipelines where id >= $1 order by id',
    [first.id],
  )
  assert.deepEqual(
    made.map(({ project_id }) => project_id),
    [project.id, other.id, project.id, other.id],
  )
  const last = await jobNamed(world(), { id: made.at(-1)?.id ?? 0 }, 'again')
  assert.equal(last.failure_reason, 'pipeline_loop_detected')
  for (const { id } of made) assert.equal((await pipelineRow(world(), id)).status, 'failed')
  assert.deepEqual(await findInconsistencies(world().opened.client), [])
})

test('a bridge fails with the project of its downstream pipeline', async () => {
  const gone = await targetOf('developer')
  const up = await start(trigger(gone))
  await rowsOf(world(), 'delete from projects where id = $1', [gone.id])
  await applyTime(world().opened.client)
  await sees(up, 'failed, down failed, later skipped')
})

test('bridges are listed with their downstream pipelines, as far as the caller reads those', async () => {
  const { make, get } = world()
  const reader = await make.memberOf('developer', { project })
  const up = await start(`${trigger(target)}sub: {trigger: {include: none.yml}}\n`)
  const down = await downstreamOf(world(), up, 'down')
  const path = `/projects/${project.id}/pipelines/${up.id}`
  type Bridges = readonly { readonly name: string; readonly downstream_pipeline: { id: number } | null }[]
  const listed = async (as: Someone): Promise<unknown> =>
    ((await get(`${path}/bridges`, as)).body as Bridges).map((one) => [one.name, one.downstream_pipeline?.id])
  const sub = (await downstreamOf(world(), up, 'sub')).id
  assert.deepEqual(await listed(user), [
    ['sub', sub],
    ['down', down.id],
  ])
  assert.deepEqual(await listed(reader), [
    ['sub', sub],
    ['down', undefined],
  ])
  const names = async (query: string): Promise<unknown> =>
    ((await get(`${path}${query}`, user)).body as { name: string }[]).map(({ name }) => name)
  assert.deepEqual(await names('/jobs'), ['later'])
  const ids = async (query: string): Promise<number[]> =>
    ((await get(`/projects/${project.id}/pipelines${query}`, user)).body as { id: number }[]).map(
      ({ id }) => id,
    )
  assert.equal((await ids('')).includes(sub), false)
  assert.equal((await ids('?source=parent_pipeline')).includes(sub), true)
  const bridge = await jobNamed(world(), up, 'sub')
  const jobs = `/projects/${project.id}/jobs/${bridge.id}`
  assert.equal((await get(jobs, user)).status, 404)
  const again = await world().call('POST', `${jobs}/retry`, { as: user })
  assert.deepEqual([again.status, (again.body as { name: string }).name], [201, 'sub'])
})
