import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dice } from '../../test/support/git_fixtures.ts'
import type { JobStatus } from '../db/schema/ci.ts'
import { processJobs, revivedBy, sortedByNeeds, type ProcessedJob, type When } from './processing.ts'
import { isCompleted, pipelineStatus, type Status } from './status.ts'

type Sketch = Partial<ProcessedJob> & { readonly name: string }
const jobOf = (sketch: Sketch, id: number): ProcessedJob => ({
  id,
  stage_index: 0,
  status: 'created',
  allow_failure: false,
  run_when: 'on_success',
  scheduling_type: sketch.needs === undefined ? 'stage' : 'dag',
  needs: [],
  has_resource_group: false,
  ...sketch,
})

/** A pipeline in memory. */
class Model {
  jobs: ProcessedJob[]
  constructor(sketches: readonly Sketch[]) {
    this.jobs = sketches.map(jobOf)
    this.process()
  }

  set(name: string, status: JobStatus): void {
    this.jobs = this.jobs.map((job) => (job.name === name ? { ...job, status } : job))
  }

  process(): void {
    for (const { id, to } of processJobs(this.jobs))
      this.jobs = this.jobs.map((job) => (job.id === id ? { ...job, status: to } : job))
  }

  end(name: string, status: JobStatus): this {
    this.set(name, status)
    this.process()
    return this
  }

  restart(name: string): this {
    for (const revived of revivedBy(this.jobs, name)) this.set(revived, 'created')
    return this.end(name, 'pending')
  }

  get states(): string {
    return this.jobs.map(({ status }) => status).join(' ')
  }

  get status(): Status | undefined {
    return pipelineStatus(this.jobs)
  }
}

const build = { name: 'build' }
const test1 = (more: Partial<ProcessedJob> = {}): Sketch => ({ name: 'test', stage_index: 1, ...more })
const deploy = (more: Partial<ProcessedJob> = {}): Sketch => ({ name: 'deploy', stage_index: 2, ...more })
const seen = (model: Model): [string, Status | undefined] => [model.states, model.status]

test('a failed job skips what comes after it', () => {
  assert.deepEqual(seen(new Model([build, test1(), deploy()]).end('build', 'failed')), [
    'failed skipped skipped',
    'failed',
  ])
})

test('always runs after a failed need and after a skipped one', () => {
  const model = new Model([build, test1({ needs: ['build'], run_when: 'always' })]).end('build', 'failed')
  assert.equal(model.states, 'failed pending')
  const skipped = new Model([build, test1(), deploy({ needs: ['test'], run_when: 'always' })])
  assert.equal(skipped.end('build', 'failed').states, 'failed skipped pending')
})

test('a job that needs an on_failure job runs, and the pipeline is still failed', () => {
  const model = new Model([build, test1({ run_when: 'on_failure' }), deploy({ needs: ['test'] })])
  model.end('build', 'failed').end('test', 'success')
  assert.equal(model.states, 'failed success pending')
  assert.equal(model.end('deploy', 'success').status, 'failed')
})

test('an allowed failure is a success for what comes after, for on_failure too', () => {
  const model = new Model([
    { ...build, allow_failure: true },
    test1({ needs: ['build'], run_when: 'on_failure' }),
    deploy({ needs: ['test'] }),
  ])
  assert.deepEqual(seen(model.end('build', 'failed')), ['failed skipped skipped', 'success'])
})

test('a canceled job skips everything behind it', () => {
  const model = new Model([build, test1(), test1({ name: 'other', run_when: 'on_failure' }), deploy()])
  assert.deepEqual(seen(model.end('build', 'canceled')), ['canceled skipped skipped skipped', 'canceled'])
})

test('an allowed cancellation counts as success', () => {
  const model = new Model([
    { ...build, allow_failure: true },
    test1(),
    test1({ name: 'other', run_when: 'on_failure' }),
  ])
  assert.equal(model.end('build', 'canceled').states, 'canceled pending skipped')
})

test('on_failure in the first stage is skipped at once, with empty needs too', () => {
  const first = { name: 'a', run_when: 'on_failure' } as const
  assert.equal(new Model([first, { ...first, name: 'b', needs: [] }]).states, 'skipped skipped')
})

test('a blocking manual job holds the stages behind it', () => {
  const model = new Model([test1({ run_when: 'manual' }), deploy()])
  assert.deepEqual(seen(model), ['manual created', 'manual'])
  assert.equal(model.end('test', 'pending').states, 'pending created')
  assert.equal(model.end('test', 'success').states, 'success pending')
})

test('an optional manual job is passed over', () => {
  const manual = test1({ run_when: 'manual', allow_failure: true })
  assert.equal(new Model([manual, deploy()]).states, 'manual pending')
  assert.equal(new Model([manual, deploy({ needs: ['test'], run_when: 'always' })]).states, 'manual pending')
  assert.deepEqual(seen(new Model([manual, deploy({ run_when: 'on_failure' })])), [
    'manual skipped',
    'skipped',
  ])
})

test('a job that needs an optional manual job is skipped, and revived when that is played', () => {
  const model = new Model([
    test1({ run_when: 'manual', allow_failure: true }),
    test1({ name: 'post', needs: ['test'] }),
    deploy(),
  ])
  assert.equal(model.states, 'manual skipped pending')
  assert.equal(model.restart('test').states, 'pending created pending')
  assert.equal(model.end('test', 'success').states, 'success pending pending')
})

test('a chain of needs in one stage is skipped together and revived together', () => {
  const model = new Model([
    { name: 'build' },
    { name: 'deploy', needs: ['test'] },
    { name: 'test', needs: ['build'] },
  ])
  assert.equal(model.end('build', 'failed').states, 'failed skipped skipped')
  assert.equal(model.restart('build').states, 'pending created created')
})

test('a delayed job is scheduled and a job of a group waits for its resource', () => {
  const model = new Model([
    { name: 'a', run_when: 'delayed' },
    { name: 'b', has_resource_group: true },
  ])
  assert.equal(model.states, 'scheduled waiting_for_resource')
})

test('empty needs start before earlier stages are done', () => {
  assert.equal(new Model([build, deploy({ needs: [] })]).states, 'pending pending')
})

test('jobs of a stage are sorted so that each stands after those it needs', () => {
  const jobs = [
    { name: 'a', needs: ['b', 'c'] },
    { name: 'b', needs: ['c'] },
    { name: 'c', needs: ['elsewhere'] },
  ]
  assert.deepEqual(
    sortedByNeeds(jobs).map(({ name }) => name),
    ['c', 'b', 'a'],
  )
})

const WHENS: readonly When[] = [
  'on_success',
  'on_success',
  'on_success',
  'on_failure',
  'always',
  'manual',
  'delayed',
]
const ENDS = ['success', 'success', 'failed', 'canceled'] as const

/** A random pipeline of up to 12 jobs in up to 4 stages. */
function randomPipeline(roll: (bound: number) => number): Sketch[] {
  const jobs: Sketch[] = []
  const stages = 1 + roll(4)
  for (let stage_index = 0; stage_index < stages; stage_index += 1)
    for (let count = 1 + roll(3); count > 0; count -= 1) {
      const earlier = jobs.map(({ name }) => name)
      const needs = roll(2) === 0 ? earlier.filter(() => roll(3) === 0) : undefined
      jobs.push({
        name: `job-${jobs.length}`,
        stage_index,
        run_when: WHENS[roll(WHENS.length)] ?? 'on_success',
        allow_failure: roll(4) === 0,
        ...(needs && { needs }),
      })
    }
  return jobs
}

function checkStarted(before: readonly ProcessedJob[], after: readonly ProcessedJob[], note: string): void {
  const state = new Map(before.map((job) => [job.name, job]))
  for (const job of after) {
    const was = state.get(job.name)
    if (was?.status !== 'created' || job.status === 'created') continue
    const previous =
      job.scheduling_type === 'dag'
        ? job.needs.flatMap((name) => after.find((one) => one.name === name) ?? [])
        : after.filter((one) => one.stage_index < job.stage_index)
    const open = previous.filter(({ status }) => !isCompleted(status) && status !== 'manual')
    // A skipped need decides before the others are done.
    const decidedEarly =
      job.scheduling_type === 'dag' &&
      previous.some(
        ({ status, allow_failure }) => status === 'skipped' || (status === 'manual' && allow_failure),
      )
    assert.ok(
      open.length === 0 || decidedEarly,
      `${note}: ${job.name} before ${open.map(({ name }) => name).join()}`,
    )
  }
}

test('random pipelines end, decide each job once, and never start one before its time', () => {
  const seed = Number(process.env['TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  const roll = dice(seed)
  for (let round = 0; round < 2_000; round += 1) {
    const note = `seed ${seed}, round ${round}`
    const model = new Model(randomPipeline(roll))
    for (let step = 0; ; step += 1) {
      assert.ok(step < 200, `${note}: does not end`)
      assert.deepEqual(processJobs(model.jobs), [], `${note}: is not settled`)
      const active = model.jobs.filter((job) => ['pending', 'scheduled', 'manual'].includes(job.status))
      const job = active[roll(active.length)]
      if (job === undefined) break
      const before = model.jobs
      if (job.status === 'manual') model.restart(job.name)
      else model.end(job.name, ENDS[roll(ENDS.length)] ?? 'success')
      checkStarted(before, model.jobs, note)
    }
    assert.ok(
      model.jobs.every((job) => isCompleted(job.status)),
      `${note}: ${model.states}`,
    )
  }
})
