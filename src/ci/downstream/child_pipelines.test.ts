import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { keepArchive } from '../../../test/support/artifacts.ts'
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
import { rowsOf } from '../../../test/support/rows.ts'
import { sharedWorld } from '../../../test/support/stand.ts'
import { openVariables } from '../creation/sealed_variables.ts'
import type { Project } from '../../db/schema/tables.ts'
import type { Pipeline } from '../../db/schema/repositories.ts'
import { findInconsistencies } from '../check.ts'
import { playJob, retryJob } from '../jobs/actions.ts'
import { cancelPipeline, deletePipeline, retryPipeline } from '../pipeline_actions.ts'
import { applyTime } from '../watch.ts'
import { createDownstreamPipeline } from './creation_job.ts'

const world = sharedWorld()
let project: Project
let user: Someone
before(async () => {
  project = await world().make.project({ repository: 'empty' })
  user = await world().make.memberOf('maintainer', { project })
})

const CHILD = 'unit: {script: make}\n'
const start = (
  config: string,
  files: Readonly<Record<string, string>> = { 'child.yml': CHILD },
  variables: object[] = [],
): Promise<Pipeline> => startPipeline(world(), { project, as: user, config, files, variables })
const sees = async (pipeline: { readonly id: number }, expected: string): Promise<void> => {
  assert.equal(await shown(world(), pipeline), expected)
  assert.deepEqual(await findInconsistencies(world().opened.client), [])
}
const turn = <Result>(work: Parameters<typeof turnIn<Result>>[2]): Promise<Result> =>
  turnIn(world(), project.id, work)
const pairs = ({ variables }: Pipeline): unknown =>
  Object.fromEntries(
    openVariables(world().opened.instance.vault, variables).map(({ key, value }) => [key, value]),
  )

const DEPEND = `
stages: [build, sub, after]
build: {stage: build, script: make}
sub: {stage: sub, trigger: {include: child.yml, strategy: depend}}
after: {stage: after, script: make}
`

test('a bridge with depend runs as long as its child pipeline, and ends in the same transaction', async () => {
  const parent = await start(DEPEND)
  await sees(parent, 'pending, build pending, sub created, after created')
  await runJob(world(), parent, 'build')
  await sees(parent, 'running, build success, sub pending, after created')
  await settleBridges(world())
  await sees(parent, 'running, build success, sub running, after created')
  const child = await downstreamOf(world(), parent, 'sub')
  const bridge = await jobNamed(world(), parent, 'sub')
  const { source, ref, sha, parent_id, source_job_id, user_id } = child
  assert.deepEqual(
    [source, ref, sha, parent_id, source_job_id, user_id],
    ['parent_pipeline', 'ci', parent.sha, parent.id, bridge.id, user.id],
  )
  await sees(child, 'pending, unit pending')
  await runJob(world(), child, 'unit')
  await sees(parent, 'running, build success, sub success, after pending')
  await runJob(world(), parent, 'after')
  await sees(parent, 'success, build success, sub success, after success')
})

test('a failed child pipeline fails its bridge; retried, it lets the bridge run again', async () => {
  const parent = await start(DEPEND)
  await runJob(world(), parent, 'build')
  await settleBridges(world())
  const child = await downstreamOf(world(), parent, 'sub')
  const failed = await runJob(world(), child, 'unit', 'failed')
  await sees(parent, 'failed, build success, sub failed, after skipped')
  await turn((now) => retryJob(now, failed.id, user.id))
  await sees(parent, 'running, build success, sub running, after created')
  await runJob(world(), child, 'unit', 'failed')
  await turn((now) => retryPipeline(now, child.id, user.id))
  await runJob(world(), child, 'unit')
  await sees(parent, 'running, build success, sub success, after pending')
  assert.equal((await jobNamed(world(), parent, 'sub')).failure_reason, null)
})

test('a retried bridge creates another child pipeline, and mirrors that one only', async () => {
  const parent = await start('sub: {trigger: {include: child.yml, strategy: depend}}')
  const first = await downstreamOf(world(), parent, 'sub')
  await runJob(world(), first, 'unit', 'failed')
  await turn((now) => retryPipeline(now, parent.id, user.id))
  await settleBridges(world())
  const second = await downstreamOf(world(), parent, 'sub')
  assert.notEqual(second.id, first.id)
  await turn((now) => retryPipeline(now, first.id, user.id))
  await runJob(world(), first, 'unit')
  await sees(parent, 'running, sub running')
  await runJob(world(), second, 'unit')
  await sees(parent, 'success, sub success')
})

test('a bridge with mirror has the status of its child pipeline', async () => {
  const child = 'ask: {script: make, rules: [{when: manual}]}\n'
  const parent = await start('sub: {trigger: {include: child.yml, strategy: mirror}}', { 'child.yml': child })
  await sees(parent, 'manual, sub manual')
  const below = await downstreamOf(world(), parent, 'sub')
  const bridge = await jobNamed(world(), parent, 'sub')
  const played = await world().call('POST', `/projects/${project.id}/jobs/${bridge.id}/play`, { as: user })
  assert.deepEqual([played.status, played.body], [400, { message: '400 Bad request - Unplayable Job' }])
  const { id } = await jobNamed(world(), below, 'ask')
  await turn((now) => playJob(now, id, { user_id: user.id, variables: null }))
  await sees(parent, 'pending, sub pending')
  await settleBridges(world())
  await runJob(world(), below, 'ask')
  await sees(parent, 'success, sub success')
})

test('a bridge without strategy succeeds when its child pipeline exists', async () => {
  const parent = await start('sub: {trigger: {include: child.yml}}\nlate: {stage: deploy, script: make}')
  await sees(parent, 'running, sub success, late pending')
  const child = await downstreamOf(world(), parent, 'sub')
  await runJob(world(), child, 'unit', 'failed')
  await sees(parent, 'running, sub success, late pending')
})

// Configuration of the parent, files beside it, state and failure reason of the bridge, state and text of the child.
const REFUSED: readonly (readonly [string, Readonly<Record<string, string>>, string, string?, string?])[] = [
  [
    'sub: {trigger: {include: none.yml}}',
    {},
    'downstream_pipeline_creation_failed',
    'failed',
    'Local file `none.yml` does not exist!',
  ],
  [
    'sub: {trigger: {include: child.yml}}',
    { 'child.yml': 'unit: {script: 1}' },
    'downstream_pipeline_creation_failed',
    'failed',
    'jobs:unit:script config should be a string or a nested array of strings up to 10 levels deep',
  ],
  [
    'sub: {trigger: {include: child.yml}}',
    { 'child.yml': 'unit: {script: make, rules: [{if: $NONE}]}' },
    'downstream_pipeline_creation_failed',
  ],
  [
    'sub: {trigger: {include: [{artifact: made.yml, job: none}]}}',
    {},
    'downstream_pipeline_creation_failed',
    'failed',
    'Job `none` not found in parent pipeline or does not have artifacts!',
  ],
  ['sub: {trigger: none/of-this-name}', {}, 'downstream_bridge_project_not_found'],
]
test('a child pipeline that cannot be fails its bridge with the published reason', async () => {
  for (const [config, files, reason, status, text] of REFUSED) {
    const parent = await start(config, files)
    await sees(parent, 'failed, sub failed')
    const bridge = await jobNamed(world(), parent, 'sub')
    assert.equal(bridge.failure_reason, reason, config)
    const child = bridge.downstream_id === null ? undefined : await pipelineRow(world(), bridge.downstream_id)
    assert.deepEqual([child?.status, child?.yaml_errors], [status, text], config)
  }
})

test('children have children; a third generation is refused', async () => {
  const recursive = 'sub: {trigger: {include: child.yml, strategy: depend}}\n'
  const parent = await start(recursive, { 'child.yml': recursive })
  const child = await downstreamOf(world(), parent, 'sub')
  const grandchild = await downstreamOf(world(), child, 'sub')
  const last = await jobNamed(world(), grandchild, 'sub')
  assert.deepEqual(
    [last.failure_reason, last.downstream_id],
    ['reached_max_descendant_pipelines_depth', null],
  )
  for (const one of [parent, child, grandchild]) await sees(one, 'failed, sub failed')
})

test('several files of a child pipeline are one configuration', async () => {
  const parent = await start('sub: {trigger: {include: [a.yml, {local: b.yml}], strategy: depend}}', {
    'a.yml': 'stages: [one, two]\na: {stage: one, script: make}\n',
    'b.yml': 'b: {stage: two, script: make}\n',
  })
  await sees(await downstreamOf(world(), parent, 'sub'), 'pending, a pending, b created')
})

test('the configuration of a child pipeline is read from the artifacts of a job', async () => {
  const parent = await start(
    'make: {stage: build, script: make, artifacts: {paths: [out]}}\n' +
      'sub: {trigger: {include: [{artifact: out/child.yml, job: make}]}}\n',
  )
  const { id } = await jobNamed(world(), parent, 'make')
  await keepArchive(
    world(),
    { id, project_id: project.id },
    { files: { 'out/child.yml': 'deep: {script: a}\n' } },
  )
  await runJob(world(), parent, 'make')
  await settleBridges(world())
  await sees(await downstreamOf(world(), parent, 'sub'), 'pending, deep pending')
})

test('variables of the configuration are forwarded expanded; those of the pipeline where the bridge says so', async () => {
  const config = (forward: string): string =>
    `variables: {ROOT: root}\nsub: {variables: {OWN: "$ROOT of $GIVEN"}, trigger: {include: child.yml${forward}}}\n`
  const given = [{ key: 'GIVEN', value: 'a user' }]
  const cases: readonly (readonly [string, object])[] = [
    ['', { ROOT: 'root', OWN: 'root of a user' }],
    [', forward: {yaml_variables: false}', {}],
    [', forward: {pipeline_variables: true}', { ROOT: 'root', OWN: 'root of a user', GIVEN: 'a user' }],
    [', forward: {yaml_variables: false, pipeline_variables: true}', { GIVEN: 'a user' }],
  ]
  for (const [forward, expected] of cases) {
    const parent = await start(config(forward), undefined, given)
    assert.deepEqual(pairs(await downstreamOf(world(), parent, 'sub')), expected, forward)
  }
})

test('rules, needs, manual start and allowed failures hold for bridges', async () => {
  const parent = await start(
    [
      'stages: [a, b]',
      'ask: {stage: a, when: manual, trigger: {include: child.yml}}',
      'never: {stage: a, rules: [{if: $NONE}], trigger: {include: child.yml}}',
      'soft: {stage: a, allow_failure: true, trigger: {include: none.yml}}',
      'early: {stage: b, needs: [], trigger: {include: child.yml}}',
      'last: {stage: b, script: make}',
    ].join('\n'),
  )
  await sees(parent, 'running, ask manual, soft failed, early success, last pending')
  const { id } = await jobNamed(world(), parent, 'ask')
  const played = await world().call('POST', `/projects/${project.id}/jobs/${id}/play`, { as: user })
  assert.equal(played.status, 200, played.text)
  await settleBridges(world())
  await sees(parent, 'running, ask success, soft failed, early success, last pending')
})

test('a bridge holds the resource of its group until its child pipeline ends', async () => {
  const config = 'sub: {resource_group: one, trigger: {include: child.yml, strategy: depend}}'
  const first = await start(config)
  const second = await start(config)
  await sees(first, 'running, sub running')
  await sees(second, 'waiting_for_resource, sub waiting_for_resource')
  await runJob(world(), await downstreamOf(world(), first, 'sub'), 'unit')
  await settleBridges(world())
  await sees(second, 'running, sub running')
})

test('canceling and deleting a pipeline reaches its child pipelines', async () => {
  const parent = await start('sub: {trigger: {include: child.yml, strategy: depend}}')
  const child = await downstreamOf(world(), parent, 'sub')
  await turn((now) => cancelPipeline(now, parent.id))
  await sees(parent, 'canceled, sub canceled')
  await sees(child, 'canceled, unit canceled')
  assert.equal(await turn((now) => deletePipeline(now, parent.id)), true)
  assert.deepEqual(await rowsOf(world(), 'select id from pipelines where id = $1', [child.id]), [])
})

test('a bridge whose child pipeline is deleted fails', async () => {
  const parent = await start('sub: {trigger: {include: child.yml, strategy: depend}}')
  const child = await downstreamOf(world(), parent, 'sub')
  await turn((now) => deletePipeline(now, child.id))
  await applyTime(world().opened.client)
  await sees(parent, 'failed, sub failed')
})

test('a job of the queue that runs twice, or at once, creates one child pipeline', async () => {
  const parent = await start(DEPEND)
  await runJob(world(), parent, 'build')
  const { id } = await jobNamed(world(), parent, 'sub')
  const run = (): Promise<void> =>
    createDownstreamPipeline.run(world().opened.instance, { project_id: project.id, job_id: id })
  await Promise.all([run(), run(), run()])
  await run()
  await settleBridges(world())
  const made = await rowsOf(world(), 'select id from pipelines where source_job_id = $1', [id])
  assert.equal(made.length, 1)
})

test('a bridge canceled before its pipeline is created creates none', async () => {
  const parent = await start(DEPEND)
  await runJob(world(), parent, 'build')
  await turn((now) => cancelPipeline(now, parent.id))
  await settleBridges(world())
  assert.equal((await jobNamed(world(), parent, 'sub')).downstream_id, null)
  await sees(parent, 'canceled, build success, sub canceled, after canceled')
})
