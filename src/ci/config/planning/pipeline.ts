import { createYield } from '../../event_loop.ts'
import { ConfigFault } from '../yaml/config_fault.ts'
import type { PlanContext, PlanFailure, PlanPipeline } from '../context.ts'
import { byKey, expand, findIn, layer } from '../expand.ts'
import { Facts } from '../facts.ts'
import type { Model, WorkflowRuleModel } from '../model.ts'
import type { AutoCancel, PlannedJob, PlannedPipeline, Variable } from '../plan.ts'
import { planJob, type Admitted, type Planning } from './job.ts'
import { resolveNeeds } from './needs.ts'

const FILTERED =
  'The resulting pipeline would have been empty. Review the rules configuration for the relevant jobs.'
const FILTERED_BY_WORKFLOW =
  'The pipeline did not run. Review the workflow:rules configuration for the pipeline.'
const MAX_NAME_CHARACTERS = 255

/** Decides which jobs a pipeline has, and expands their names, keys and environments. Creates nothing. */
export const planPipeline: PlanPipeline = async ({ model }, context) => {
  try {
    return await plan(model, context)
  } catch (error) {
    if (error instanceof ConfigFault) return { errors: error.texts, reason: 'config_error' }
    throw error
  }
}

type Outcome = Awaited<ReturnType<PlanPipeline>>
const refuse = (text: string, reason: PlanFailure): Outcome => ({ errors: [text], reason })

async function plan(model: Model, context: PlanContext): Promise<Outcome> {
  const breathe = createYield()
  const facts = new Facts(context)
  const workflow = await decideWorkflow(model, context, facts)
  if (workflow === undefined) return refuse(FILTERED_BY_WORKFLOW, 'filtered_by_workflow_rules')
  const rootVariables = layer(model.variables, workflow.variables)
  const planning: Planning = {
    context,
    model,
    facts,
    rootVariables,
    workflowVariables: workflow.variables,
    predefined: byKey(context.variables.predefined),
    pipeline: byKey(context.variables.pipeline),
    secrets: remember((environment) => byKey(context.variables.secret(environment))),
  }
  const admitted: Admitted[] = []
  const limit = context.limits.pipeline_size
  for (const job of model.jobs) {
    for (const instance of job.instances ?? [null]) {
      await breathe()
      const found = await planJob(planning, job, instance)
      if (found !== undefined) admitted.push(found)
    }
    if (limit > 0 && admitted.length > limit) return refuse(tooMany(limit), 'size_limit_exceeded')
  }
  if (admitted.every(({ stage }) => stage === '.pre' || stage === '.post'))
    return refuse(FILTERED, 'filtered_by_rules')
  const jobs = await finish(admitted, { model, context, breathe })
  const name = nameOf(model, planning)
  return {
    plan: {
      ...(name !== '' && { name }),
      ...jobs,
      autoCancel: autoCancelOf(model, workflow.auto_cancel),
      variables: rootVariables,
    },
  }
}

const tooMany = (limit: number): string =>
  `The number of jobs has exceeded the limit of ${limit}. Try splitting the configuration with parent-child-pipelines`

type Workflow = Pick<WorkflowRuleModel, 'variables' | 'auto_cancel'>

async function decideWorkflow(
  { workflow, variables }: Model,
  context: PlanContext,
  facts: Facts,
): Promise<Workflow | undefined> {
  if (workflow.rules === null) return { variables: [], auto_cancel: {} }
  const { predefined, secret, pipeline } = context.variables
  const find = findIn(byKey(pipeline), byKey(secret(null)), byKey(variables), byKey(predefined))
  for (const rule of workflow.rules)
    if (await facts.hold(rule, find, 'workflow')) return rule.when === 'never' ? undefined : rule
  return undefined
}

function remember(load: (environment: string | null) => ReadonlyMap<string, Variable>): Planning['secrets'] {
  const known = new Map<string | null, ReadonlyMap<string, Variable>>()
  return (environment) => {
    const found = known.get(environment) ?? load(environment)
    known.set(environment, found)
    return found
  }
}

function nameOf({ workflow }: Model, { pipeline, secrets, rootVariables, predefined }: Planning): string {
  if (workflow.name === null) return ''
  const find = findIn(pipeline, secrets(null), byKey(rootVariables), predefined)
  return expand(workflow.name, find).trim().slice(0, MAX_NAME_CHARACTERS)
}

const autoCancelOf = ({ workflow }: Model, rule: Partial<AutoCancel>): AutoCancel => ({
  on_new_commit: 'conservative',
  on_job_failure: 'none',
  ...workflow.auto_cancel,
  ...rule,
})

interface Finishing {
  readonly model: Model
  readonly context: PlanContext
  readonly breathe: () => Promise<void> | undefined
}

/** Jobs in the order of their stages, with stages that hold none left out and needs resolved to instances. */
async function finish(
  admitted: readonly Admitted[],
  { model, context, breathe }: Finishing,
): Promise<Pick<PlannedPipeline, 'stages' | 'jobs'>> {
  const used = new Set(admitted.map(({ stage }) => stage))
  const stages = model.stages.filter((stage) => used.has(stage))
  const position = new Map(stages.map((stage, at) => [stage, at]))
  const resolved = await resolveNeeds(admitted, context.limits.needs, breathe)
  const jobs = admitted.map((job, at): PlannedJob => {
    const { model: _model, needed: _needed, ...planned } = job
    const { needs, dependencies } = resolved[at] ?? { needs: [], dependencies: null }
    return { ...planned, needs, dependencies, stage_index: position.get(job.stage) ?? 0 }
  })
  return { stages, jobs: jobs.toSorted((a, b) => a.stage_index - b.stage_index) }
}
