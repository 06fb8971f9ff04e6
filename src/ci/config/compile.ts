import { createYield } from '../event_loop.ts'
import { ConfigFault, YamlFault } from './yaml/config_fault.ts'
import { conditionsOf } from './conditions.ts'
import type { CompileConfig, CompileContext, Compiled, ConfigLimits, ConfigSource } from './context.ts'
import { resolveExtends } from './yaml/extends.ts'
import { Faults } from './faults.ts'
import { readFiles, type Merged } from './includes/includes.ts'
import { jobModel } from './job_model.ts'
import { withDefaults } from './job_options.ts'
import { checkLogic } from './logic.ts'
import type { Model, WorkflowRuleModel } from './model.ts'
import type { AutoCancel } from './plan.ts'
import { resolveReferences } from './yaml/references.ts'
import { OLD_DEFAULTS, checkRoot, isHidden, isRootKey } from './checks/root.ts'
import { flatten, isHash, newHash, type Hash, type Tree } from './yaml/tree.ts'
import { variablesOf } from './variables_model.ts'
import { warningsOf } from './warnings.ts'

type Breathe = () => Promise<void> | undefined

const MEGABYTE = 1_048_576
const LIMITS: ConfigLimits = {
  file_bytes: MEGABYTE,
  total_bytes: 2 * MEGABYTE,
  depth: 100,
  includes: 150,
}
const DEFAULT_STAGES = ['.pre', 'build', 'test', 'deploy', '.post']

/**
 * Reads and checks a configuration: header, includes, `extends`, references, then every fault of a keyword, then the
 * first fault between jobs. Never throws for what the text holds.
 */
export const compileConfig: CompileConfig = async (source, context) => {
  const faults = new Faults()
  const lines = new Map<string, number>()
  try {
    return await compile({ source, context, faults, lines })
  } catch (error) {
    if (!(error instanceof ConfigFault) && !(error instanceof YamlFault)) throw error
    const errors = error instanceof ConfigFault ? error.texts : [error.message]
    return { errors, warnings: [], lines: errors.map((text) => lineOf(text, lines)) }
  }
}

interface Work {
  readonly source: ConfigSource
  readonly context: CompileContext
  readonly faults: Faults
  /** Filled with the line of each root key of the main file. */
  readonly lines: Map<string, number>
}

async function compile({ source, context, faults, lines }: Work): Promise<Compiled> {
  if (source.content.trim() === '') throw new ConfigFault('Please provide content of .gitlab-ci.yml')
  const breathe = createYield()
  const limits = { ...LIMITS, ...context.limits }
  const files = await readFiles(source, context, limits)
  for (const [key, line] of files.lines) lines.set(key, line)
  const root = await resolve(files, limits, breathe)
  await checkRoot(root, faults, breathe)
  if (faults.texts.length > 0) throw new ConfigFault(...faults.texts)
  const model = await modelOf(root, breathe)
  await checkLogic(model, breathe)
  return {
    stages: model.stages,
    merged: root,
    includes: files.includes,
    warnings: warningsOf(model),
    model,
  }
}

async function resolve({ root }: Merged, limits: ConfigLimits, breathe: Breathe): Promise<Hash> {
  const extended = await resolveExtends(root, breathe)
  return resolveReferences(extended, 2 * limits.total_bytes, breathe)
}

async function modelOf(root: Hash, breathe: Breathe): Promise<Model> {
  const defaults = newHash()
  for (const key of OLD_DEFAULTS) if (root[key] !== undefined && root[key] !== null) defaults[key] = root[key]
  if (isHash(root['default'])) Object.assign(defaults, root['default'])
  const jobs: Model['jobs'][number][] = []
  for (const [name, job] of Object.entries(root)) {
    if (isRootKey(name) || isHidden(name) || !isHash(job)) continue
    await breathe()
    const { inherit } = job
    jobs.push(jobModel(name, withDefaults(job, defaults, isHash(inherit) ? inherit['default'] : undefined)))
  }
  return {
    stages: stagesOf(root['stages']),
    jobs,
    variables: variablesOf(root['variables']),
    workflow: workflowOf(root['workflow']),
  }
}

/** `.pre` is always the first stage and `.post` the last. */
function stagesOf(value: Tree | undefined): readonly string[] {
  if (value === undefined || value === null) return DEFAULT_STAGES
  const given = flatten(value)
    .map(String)
    .filter((stage) => stage !== '.pre' && stage !== '.post')
  return ['.pre', ...new Set(given), '.post']
}

function workflowOf(value: Tree | undefined): Model['workflow'] {
  const hash = isHash(value) ? value : newHash()
  const { rules, name } = hash
  return {
    name: typeof name === 'string' ? name : null,
    rules: rules === undefined || rules === null ? null : flatten(rules).filter(isHash).map(workflowRuleOf),
    auto_cancel: autoCancelOf(hash['auto_cancel']),
  }
}
const workflowRuleOf = (rule: Hash): WorkflowRuleModel => ({
  ...conditionsOf(rule),
  when: rule['when'] === 'never' ? 'never' : 'always',
  variables: variablesOf(rule['variables']),
  auto_cancel: autoCancelOf(rule['auto_cancel']),
})
const autoCancelOf = (value: Tree | undefined): Partial<AutoCancel> => (isHash(value) ? { ...value } : {})

/** The line of the root key that a fault names: of the job, or of the root keyword. */
function lineOf(text: string, lines: ReadonlyMap<string, number>): number | null {
  const syntax = /at line (\d+) column \d+$/.exec(text)
  if (syntax !== null) return Number(syntax[1])
  const lower = text.toLowerCase().replace(/^jobs[: ]/, '')
  const found = [...lines]
    .filter(([key]) => lower.startsWith(key.toLowerCase()))
    .toSorted(([a], [b]) => b.length - a.length)
  return found[0]?.[1] ?? null
}
