import { ConfigFault } from './yaml/config_fault.ts'
import type { JobModel, Model, NeedModel } from './model.ts'

// Faults between jobs: the first one ends the check, as published.

const MAX_NEEDED_NAME_CHARACTERS = 128

interface Known {
  readonly jobs: ReadonlyMap<string, JobModel>
  /** Names of instances to their job. */
  readonly instances: ReadonlyMap<string, JobModel>
  readonly stages: ReadonlyMap<string, number>
}

/** Checks stages, dependencies, needs and environments of all jobs. Throws ConfigFault. */
export async function checkLogic(
  { jobs, stages }: Model,
  breathe: () => Promise<void> | undefined,
): Promise<void> {
  const known: Known = {
    jobs: new Map(jobs.map((job) => [job.name, job])),
    instances: new Map(jobs.flatMap((job) => (job.instances ?? []).map(({ name }) => [name, job] as const))),
    stages: new Map(stages.map((stage, at) => [stage, at])),
  }
  for (const job of jobs) {
    await breathe()
    checkStage(job, known, stages)
    checkDependencies(job, known)
    checkNeedsOf(job, job.needs ?? [], known)
    for (const rule of job.rules ?? []) checkNeedsOf(job, rule.needs ?? [], known)
    checkOnStop(job, known)
  }
  await checkCycles(jobs, known, breathe)
}

function checkStage({ name, stage }: JobModel, { stages }: Known, list: readonly string[]): void {
  if (!stages.has(stage))
    throw new ConfigFault(
      `${name} job: chosen stage ${stage} does not exist; available stages are ${list.join(', ')}`,
    )
}

const stageOf = ({ stages }: Known, job: JobModel): number => stages.get(job.stage) ?? Number.MAX_SAFE_INTEGER

function checkDependencies(job: JobModel, known: Known): void {
  for (const name of job.dependencies ?? []) {
    const other = known.jobs.get(name) ?? known.instances.get(name)
    if (other === undefined) throw new ConfigFault(`${job.name} job: undefined dependency: ${name}`)
    if (stageOf(known, other) >= stageOf(known, job) && !job.needs?.some((need) => need.name === name))
      throw new ConfigFault(`${job.name} job: dependency ${name} is not defined in current or prior stages`)
  }
}

function checkNeedsOf(job: JobModel, needs: readonly NeedModel[], known: Known): void {
  const seen = new Set<string>()
  const twice = new Set<string>()
  for (const need of needs) {
    if (need.name.length > MAX_NEEDED_NAME_CHARACTERS)
      throw new ConfigFault(
        `${job.name} job: need \`${need.name}\` name is too long (maximum is ${MAX_NEEDED_NAME_CHARACTERS} characters)`,
      )
    const other = known.jobs.get(need.name) ?? known.instances.get(need.name)
    if (other === undefined && !need.optional)
      throw new ConfigFault(`${job.name} job: undefined need: ${need.name}`)
    if (other !== undefined && stageOf(known, other) > stageOf(known, job))
      throw new ConfigFault(`${job.name} job: need ${need.name} is not defined in current or prior stages`)
    if (seen.has(need.name) && need.instances === null) twice.add(need.name)
    seen.add(need.name)
  }
  if (twice.size > 0)
    throw new ConfigFault(`${job.name} has the following needs duplicated: ${[...twice].join(', ')}.`)
}

function checkOnStop({ name, environment }: JobModel, { jobs }: Known): void {
  if (environment === null || environment.on_stop === null) return
  const { on_stop } = environment
  const other = jobs.get(on_stop)
  if (other === undefined) throw new ConfigFault(`${name} job: on_stop job ${on_stop} is not defined`)
  if (other.environment === null)
    throw new ConfigFault(`${name} job: on_stop job ${on_stop} does not have environment defined`)
  if (other.environment.name !== environment.name)
    throw new ConfigFault(`${name} job: on_stop job ${on_stop} have different environment name`)
  if (other.environment.action !== 'stop')
    throw new ConfigFault(`${name} job: on_stop job ${on_stop} needs to have action stop defined`)
}

/** Depth-first without recursion: a chain may be as long as there are jobs. */
async function checkCycles(
  jobs: readonly JobModel[],
  known: Known,
  breathe: () => Promise<void> | undefined,
): Promise<void> {
  const neededBy = (job: JobModel): JobModel[] =>
    [job.needs ?? [], ...(job.rules ?? []).map((rule) => rule.needs ?? [])]
      .flat()
      .flatMap(({ name }) => known.jobs.get(name) ?? known.instances.get(name) ?? [])
  const state = new Map<JobModel, 'open' | 'done'>()
  for (const start of jobs) {
    if (state.has(start)) continue
    await breathe()
    const stack = [{ job: start, next: neededBy(start) }]
    state.set(start, 'open')
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const job = top.next.pop()
      if (job === undefined) {
        state.set(top.job, 'done')
        stack.pop()
      } else if (job === top.job)
        throw new ConfigFault(`The pipeline has circular dependencies: self-dependency: ${job.name}`)
      else if (state.get(job) === 'open') {
        const names = stack.slice(stack.findIndex((each) => each.job === job)).map((each) => each.job.name)
        throw new ConfigFault(`The pipeline has circular dependencies: ${[...names, job.name].join(' -> ')}`)
      } else if (!state.has(job)) {
        state.set(job, 'open')
        stack.push({ job, next: neededBy(job) })
      }
    }
  }
}
