import type {
  CompileContext,
  Compiled,
  ConfigFaults,
  PlanContext,
  ProjectFiles,
} from '../../src/ci/config/context.ts'
import { compileConfig } from '../../src/ci/config/compile.ts'
import { planPipeline } from '../../src/ci/config/planning/pipeline.ts'
import type { PlannedJob, PlannedPipeline, Variable } from '../../src/ci/config/plan.ts'

/** Files of a project from a table of path to content. */
export const filesOf = (table: Readonly<Record<string, string>>, project = 'group/app'): ProjectFiles => ({
  project,
  sha: 'a'.repeat(40),
  read: async (path) => (Object.hasOwn(table, path) ? table[path] : undefined),
  paths: async () => Object.keys(table),
})

export interface Settings {
  readonly files?: Readonly<Record<string, string>>
  /** Other projects by path. */
  readonly projects?: Readonly<Record<string, Readonly<Record<string, string>>>>
  readonly changed?: readonly string[] | null
  readonly source?: PlanContext['source']
  readonly ref?: string
  readonly tag?: boolean
  readonly predefined?: Readonly<Record<string, string>>
  readonly secrets?: readonly Variable[]
  readonly pipeline?: readonly Variable[]
  readonly limits?: Partial<PlanContext['limits']>
}

const variablesFrom = (table: Readonly<Record<string, string>> = {}): Variable[] =>
  Object.entries(table).map(([key, value]) => ({ key, value }))

const openProject =
  ({ projects = {} }: Settings): CompileContext['openProject'] =>
  async (path, ref) => {
    const files = Object.hasOwn(projects, path) ? projects[path] : undefined
    if (files === undefined) return 'project'
    return ref === null || ref === 'main' ? filesOf(files, path) : 'ref'
  }

export const compile = (content: string, settings: Settings = {}): Promise<Compiled | ConfigFaults> =>
  compileConfig(
    { content, path: '.gitlab-ci.yml' },
    {
      files: filesOf(settings.files ?? {}),
      openProject: openProject(settings),
      variables: [...variablesFrom(settings.predefined), ...(settings.pipeline ?? [])],
      changedPaths: async () => settings.changed ?? null,
    },
  )

const contextOf = (settings: Settings): PlanContext => ({
  source: settings.source ?? 'push',
  ref: settings.ref ?? 'main',
  tag: settings.tag ?? false,
  project: 'group/app',
  variables: {
    predefined: variablesFrom({ CI_COMMIT_BRANCH: 'main', ...settings.predefined }),
    secret: () => settings.secrets ?? [],
    pipeline: settings.pipeline ?? [],
  },
  changedPaths: async (to) => (to === 'nowhere' ? 'ref' : (settings.changed ?? null)),
  files: filesOf(settings.files ?? {}),
  openProject: openProject(settings),
  limits: { pipeline_size: 0, needs: 50, ...settings.limits },
})

type Outcome = Awaited<ReturnType<typeof planPipeline>>

/** Compiles and plans; a configuration with faults is thrown. */
export async function planOrRefuse(content: string, settings: Settings = {}): Promise<Outcome> {
  const compiled = await compile(content, settings)
  if ('errors' in compiled) throw new Error(compiled.errors.join('\n'))
  return planPipeline(compiled, contextOf(settings))
}

export async function plan(content: string, settings: Settings = {}): Promise<PlannedPipeline> {
  const outcome = await planOrRefuse(content, settings)
  if ('errors' in outcome) throw new Error(outcome.errors.join('\n'))
  return outcome.plan
}

export function jobNamed({ jobs }: PlannedPipeline, name: string): PlannedJob {
  const job = jobs.find((each) => each.name === name)
  if (job === undefined) throw new Error(`there is no job ${name}`)
  return job
}
