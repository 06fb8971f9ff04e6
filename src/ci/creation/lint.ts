import { stringify } from 'yaml'
import { createYield } from '../event_loop.ts'
import { compileConfig } from '../config/compile.ts'
import type { CompileContext, Compiled, ConfigSource, PlanContext } from '../config/context.ts'
import type { JobModel } from '../config/model.ts'
import type { PlannedJob, PlannedPipeline } from '../config/plan.ts'
import { planPipeline } from '../config/planning/pipeline.ts'

/** The result of checking a configuration. Nothing is created. */
export interface Linted {
  readonly errors: readonly string[]
  readonly warnings: readonly string[]
  /** Null where there are errors that keep it from being read. */
  readonly compiled: Compiled | null
  /** Of a dry run that succeeds. */
  readonly plan: PlannedPipeline | null
}

/** Checks a configuration; with `dryRun` also whether a pipeline would come of it. */
export async function lint(
  source: ConfigSource,
  context: CompileContext,
  dryRun: PlanContext | null,
): Promise<Linted> {
  const compiled = await compileConfig(source, context)
  if ('errors' in compiled) return { ...compiled, compiled: null, plan: null }
  const { warnings } = compiled
  if (dryRun === null) return { errors: [], warnings, compiled, plan: null }
  const outcome = await planPipeline(compiled, dryRun)
  return 'errors' in outcome
    ? { errors: outcome.errors, warnings, compiled, plan: null }
    : { errors: [], warnings, compiled, plan: outcome.plan }
}

/** The merged configuration as YAML, written key by key so that a long one does not block the event loop. */
export async function mergedYaml({ merged }: Compiled): Promise<string> {
  const breathe = createYield()
  const parts: string[] = ['---\n']
  for (const [key, value] of Object.entries(merged)) {
    await breathe()
    parts.push(stringify({ [key]: value }, { aliasDuplicateObjects: false, lineWidth: 0 }))
  }
  return parts.join('')
}

/** A job as lint shows it. */
export interface LintedJob {
  readonly name: string
  readonly stage: string
  readonly before_script: readonly string[]
  readonly script: readonly string[]
  readonly after_script: readonly string[]
  readonly tag_list: readonly string[]
  readonly environment: string | null
  readonly when: string
  readonly allow_failure: boolean
  readonly only?: unknown
  readonly except?: unknown
  readonly needs?: unknown
}

type Common = Pick<JobModel | PlannedJob, 'stage' | 'options' | 'tags'>
const common = (
  name: string,
  { stage, options, tags }: Common,
): Omit<LintedJob, 'environment' | 'when' | 'allow_failure'> => ({
  name,
  stage,
  before_script: options.before_script ?? [],
  script: options.script ?? [],
  after_script: options.after_script ?? [],
  tag_list: tags,
})

const DEFAULT_ONLY = { refs: ['branches', 'tags'] }

/** The jobs as they stand in the configuration, no rule decided. */
export const staticJobs = ({ model, merged }: Compiled): LintedJob[] =>
  model.jobs.flatMap((job) =>
    (job.instances ?? [{ name: job.name }]).map(({ name }) => ({
      ...common(name, job),
      only: job.rules === null ? policyOf(merged, job.name, 'only', DEFAULT_ONLY) : null,
      except: policyOf(merged, job.name, 'except', null),
      environment: job.environment?.name ?? null,
      when: job.when ?? 'on_success',
      allow_failure: job.allow_failure ?? job.when === 'manual',
      needs:
        job.needs &&
        job.needs.map((need) => ({ name: need.name, artifacts: need.artifacts, optional: need.optional })),
    })),
  )

function policyOf(merged: Compiled['merged'], name: string, key: string, otherwise: unknown): unknown {
  const policy = (merged[name] as Readonly<Record<string, unknown>> | undefined)?.[key]
  if (policy === undefined || policy === null) return otherwise
  return Array.isArray(policy) ? { refs: policy as unknown[] } : policy
}

/** The jobs that a pipeline would have. */
export const plannedJobs = ({ jobs }: PlannedPipeline): LintedJob[] =>
  jobs.map((job) => ({
    ...common(job.name, job),
    environment: job.environment?.name ?? null,
    when: job.when,
    allow_failure: job.allow_failure,
  }))
