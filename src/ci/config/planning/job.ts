import { environmentNameFaults, environmentSlug } from '../../../core/delivery/environments.ts'
import { ConfigFault } from '../yaml/config_fault.ts'
import type { PlanContext } from '../context.ts'
import { byKey, expand, findCycle, findIn, layer, type Find } from '../expand.ts'
import type { Facts } from '../facts.ts'
import type { InstanceModel, JobModel, Model, NeedModel, RuleModel } from '../model.ts'
import type { PlannedEnvironment, PlannedJob, PlannedTrigger, Variable, When } from '../plan.ts'
import { policiesAllow } from './policies.ts'

/** Inputs that all jobs of a plan share. */
export interface Planning {
  readonly context: PlanContext
  readonly model: Model
  readonly facts: Facts
  /** Root variables with those of the workflow rule over them. */
  readonly rootVariables: readonly Variable[]
  /** Those of the workflow rule alone: they reach every job, whatever it inherits. */
  readonly workflowVariables: readonly Variable[]
  readonly predefined: ReadonlyMap<string, Variable>
  readonly pipeline: ReadonlyMap<string, Variable>
  /** Instance, group and project variables, by environment. */
  readonly secrets: (environment: string | null) => ReadonlyMap<string, Variable>
}

/** A job that the rules let in: its needs still name jobs of the configuration, not instances. */
export type Admitted = Omit<PlannedJob, 'needs' | 'stage_index' | 'dependencies'> & {
  readonly model: JobModel
  readonly needed: readonly NeedModel[] | null
}

/** Decides one job or one instance of it; undefined where rules leave it out. Throws ConfigFault. */
export async function planJob(
  planning: Planning,
  job: JobModel,
  instance: InstanceModel | null,
): Promise<Admitted | undefined> {
  const own = ownVariables(planning, job, instance)
  const early = findOf(planning, job, { own, instance })
  const decision = await decide(planning, job, early)
  if (decision === undefined) return undefined
  const { rule, when } = decision
  const overrides = rule !== null && rule.variables.length > 0
  const variables = overrides ? layer(own, rule.variables) : own
  checkCycles(instance?.name ?? job.name, variables)
  const loose = overrides ? findOf(planning, job, { own: variables, instance }) : early
  const environment = environmentOf(job, loose)
  const find = environment ? findOf(planning, job, { own: variables, instance, environment }) : loose
  const name = instance?.name ?? job.name
  return {
    model: job,
    needed: rule?.needs ?? job.needs,
    name,
    stage: job.stage,
    kind: job.kind,
    when,
    start_in: when === 'delayed' ? (rule?.start_in ?? job.start_in) : null,
    ...failureOf(job, rule, when),
    scheduling_type: (rule?.needs ?? job.needs) === null ? 'stage' : 'dag',
    tags: job.tags.map((tag) => expand(tag, find)),
    resource_group: job.resource_group === null ? null : expand(job.resource_group, find),
    environment: environment && { ...environment, ...expandedUrl(environment, find) },
    interruptible: rule?.interruptible ?? job.interruptible,
    retry: job.retry,
    timeout: job.timeout,
    instance: instance && { index: instance.index, total: instance.total },
    variables,
    coverage: job.coverage,
    manual_confirmation: job.manual_confirmation,
    options: job.options,
    trigger: job.trigger && expandTrigger(job.trigger, find),
  }
}

function checkCycles(name: string, variables: readonly Variable[]): void {
  const cycle = findCycle(variables)
  if (cycle !== undefined)
    throw new ConfigFault(
      `${name}: circular variable reference detected: [${cycle.map((key) => `"${key}"`).join(', ')}]`,
    )
}

interface Decision {
  /** Null where the job has no rules. */
  readonly rule: RuleModel | null
  readonly when: When
}

async function decide(planning: Planning, job: JobModel, find: Find): Promise<Decision | undefined> {
  const { model, facts, context } = planning
  const when = job.when ?? 'on_success'
  if (job.rules === null) {
    const allowed = await policiesAllow(job, model.workflow.rules !== null, { context, find, facts })
    return allowed ? { rule: null, when } : undefined
  }
  for (const rule of job.rules) {
    if (!(await facts.hold(rule, find, job.name))) continue
    const decided = rule.when ?? when
    return decided === 'never' ? undefined : { rule, when: decided }
  }
  return undefined
}

/** A manual job is optional where the job itself says `when: manual`, and blocks where a rule does. */
function failureOf(
  job: JobModel,
  rule: RuleModel | null,
  when: When,
): Pick<PlannedJob, 'allow_failure' | 'allow_failure_exit_codes'> {
  const given = rule?.allow_failure ?? null
  if (given !== null) return { allow_failure: given, allow_failure_exit_codes: null }
  const byDefault = when === 'manual' && rule?.when !== 'manual' && job.when === 'manual'
  return {
    allow_failure: job.allow_failure ?? byDefault,
    allow_failure_exit_codes: job.exit_codes,
  }
}

function ownVariables(
  { rootVariables, workflowVariables, model }: Planning,
  { inherited, variables }: JobModel,
  instance: InstanceModel | null,
): Variable[] {
  const root =
    inherited === true
      ? rootVariables
      : layer(
          inherited === false ? [] : model.variables.filter(({ key }) => inherited.includes(key)),
          workflowVariables,
        )
  return layer(root, variables, instance?.variables ?? [])
}

interface Around {
  readonly own: readonly Variable[]
  readonly instance: InstanceModel | null
  readonly environment?: PlannedEnvironment | null
}

/** The published precedence: pipeline, project, group and instance variables, the job's own, then predefined ones. */
function findOf({ pipeline, secrets, predefined }: Planning, job: JobModel, around: Around): Find {
  const { own, instance, environment = null } = around
  return findIn(
    pipeline,
    secrets(environment?.name ?? null),
    byKey(own),
    byKey(jobVariables(job, instance, environment)),
    predefined,
  )
}

/** Predefined variables that creation knows of a job. */
function jobVariables(
  job: Pick<JobModel, 'name' | 'stage' | 'when' | 'options'>,
  instance: Pick<InstanceModel, 'name' | 'index' | 'total'> | null,
  environment: PlannedEnvironment | null,
): Variable[] {
  const name = instance?.name ?? job.name
  const found: Record<string, string | undefined> = {
    CI_JOB_NAME: name,
    CI_JOB_NAME_SLUG: slugOf(name),
    CI_JOB_STAGE: job.stage,
    CI_JOB_IMAGE: job.options.image?.name,
    CI_JOB_MANUAL: job.when === 'manual' ? 'true' : undefined,
    CI_NODE_INDEX: instance === null ? undefined : String(instance.index),
    CI_NODE_TOTAL: String(instance?.total ?? 1),
    CI_ENVIRONMENT_NAME: environment?.name,
    CI_ENVIRONMENT_SLUG: environment ? environmentSlug(environment.name) : undefined,
    CI_ENVIRONMENT_ACTION: environment?.action,
    CI_ENVIRONMENT_TIER: environment?.tier ?? undefined,
  }
  return Object.entries(found).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value }]))
}

/** As names of refs and jobs stand in host names: 63 characters of `a-z0-9-`. */
const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '-')
    .slice(0, 63)
    .replaceAll(/^-+|-+$/g, '')

/** A name that no environment can have makes a job without one. */
function environmentOf({ environment }: JobModel, find: Find): PlannedEnvironment | null {
  if (environment === null) return null
  const name = expand(environment.name, find)
  if (environmentNameFaults(name).length > 0) return null
  return { ...environment, name }
}
const expandedUrl = (
  { url, on_stop, auto_stop_in }: PlannedEnvironment,
  find: Find,
): Pick<PlannedEnvironment, 'url' | 'on_stop' | 'auto_stop_in'> => ({
  url: url === null ? null : expand(url, find),
  on_stop,
  auto_stop_in: auto_stop_in === null ? null : expand(auto_stop_in, find),
})

const expandTrigger = (trigger: PlannedTrigger, find: Find): PlannedTrigger => ({
  ...trigger,
  project: trigger.project === null ? null : expand(trigger.project, find),
  branch: trigger.branch === null ? null : expand(trigger.branch, find),
})
