import * as f from '../faults.ts'
import { checkInclude } from '../includes/includes.ts'
import { checkJob } from './job.ts'
import { DEFAULT_CHECKS } from './keyword.ts'
import { autoCancel, checkWorkflowRules } from './rules.ts'
import { flatten, isHash, newHash, type Hash, type Tree } from '../yaml/tree.ts'
import { checkRootVariables } from './variables.ts'

/** Root keywords of jobs, from before `default`: they act as its entries. */
export const OLD_DEFAULTS = ['image', 'services', 'cache', 'before_script', 'after_script'] as const
const MAX_NAME_CHARACTERS = 255

const workflow = f.hash({
  rules: checkWorkflowRules,
  name: f.attribute(
    (value) => f.isString(value) && value.length <= MAX_NAME_CHARACTERS,
    `is too long (maximum is ${MAX_NAME_CHARACTERS} characters)`,
  ),
  auto_cancel: autoCancel,
})
const ROOT: Readonly<Record<string, f.Check>> = {
  default: f.hash(DEFAULT_CHECKS),
  include: (at, value) => checkInclude(at.faults, value),
  ...Object.fromEntries(OLD_DEFAULTS.map((key) => [key, DEFAULT_CHECKS[key] ?? f.anything])),
  variables: checkRootVariables,
  stages: (at, value) => {
    if (!Array.isArray(value) || !flatten(value).every(f.isString))
      f.report(at, 'should be an array of strings')
  },
  workflow,
}
export const isRootKey = (key: string): boolean => Object.hasOwn(ROOT, key)
export const isHidden = (name: string): boolean => name.startsWith('.')
const isJob = (value: Tree): value is Hash =>
  isHash(value) && ('script' in value || 'trigger' in value || 'needs' in value)

/** Reports every fault of a keyword. */
export async function checkRoot(
  root: Hash,
  faults: f.Faults,
  breathe: () => Promise<void> | undefined,
): Promise<void> {
  const at = { path: '', faults }
  for (const [key, check] of Object.entries(ROOT)) {
    const value = root[key]
    if (value !== undefined && value !== null) check(f.below(at, key), value)
  }
  await checkJobs(root, f.below(at, 'jobs'), breathe)
}

async function checkJobs(root: Hash, at: f.At, breathe: () => Promise<void> | undefined): Promise<void> {
  let visible = 0
  for (const [name, job] of Object.entries(root)) {
    if (isRootKey(name) || isHidden(name)) continue
    await breathe()
    if (name.trim() === '') f.report(at, "name can't be blank", 'job')
    else if (/^\d+$/.test(name)) f.report(f.below(at, name), 'should be a symbol', 'name')
    else if (name.length > MAX_NAME_CHARACTERS)
      f.report(at, `name is too long (maximum is ${MAX_NAME_CHARACTERS} characters)`, 'job')
    else if (isJob(job)) {
      visible += 1
      checkJob(f.below(at, name), withoutNulls(job))
    } else f.report(at, 'config should implement the script:, run:, or trigger: keyword', name)
  }
  if (visible === 0) f.report(at, 'should contain at least one visible job')
}

/** A key without a value is as good as absent. */
function withoutNulls(job: Hash): Hash {
  const rest = newHash()
  for (const [key, value] of Object.entries(job)) if (value !== null || key === 'script') rest[key] = value
  return rest
}
