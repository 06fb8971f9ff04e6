import type { EnvironmentTier } from '../../db/schema/delivery.ts'
import { conditionsOf } from './conditions.ts'
import { readDuration } from './duration.ts'
import { isInteger, isString, isStrings } from './faults.ts'
import { instancesOf } from './planning/instances.ts'
import { optionsOf } from './job_options.ts'
import { readExpression } from './expression.ts'
import type { EnvironmentModel, JobModel, NeedModel, PolicyModel, RuleModel } from './model.ts'
import type { EnvironmentAction, PlannedRetry, When } from './plan.ts'
import { triggerOf } from './trigger_model.ts'
import { flatten, isHash, isList, newHash, type Hash, type Tree } from './yaml/tree.ts'
import { variablesOf } from './variables_model.ts'

// Checked keywords of a job become its model. What is not there, or was reported as a fault, becomes null.

const textOf = (value: Tree | undefined): string | null => (isString(value) ? value : null)
const listOf = (value: Tree | undefined): readonly string[] =>
  isString(value) ? [value] : isStrings(value) ? value : []
const boolOf = (value: Tree | undefined): boolean | null => (typeof value === 'boolean' ? value : null)
const numbersOf = (value: Tree | undefined): readonly number[] =>
  isInteger(value) ? [value] : isList(value) ? value.filter(isInteger) : []
const durationOf = (value: Tree | undefined): number | null =>
  isString(value) || isInteger(value) ? readDuration(String(value)) : null

/** The model of one job; `job` has the keywords of `default` that it takes. */
export function jobModel(name: string, job: Hash): JobModel {
  const kind = 'trigger' in job ? 'bridge' : 'build'
  const { allow_failure, inherit, dependencies, rules, coverage } = job
  const plain = rules === undefined || rules === null
  return {
    name,
    stage: textOf(job['stage']) ?? 'test',
    kind,
    when: textOf(job['when']) as When | null,
    start_in: durationOf(job['start_in']),
    allow_failure: isHash(allow_failure) ? false : boolOf(allow_failure),
    exit_codes: isHash(allow_failure) ? numbersOf(allow_failure['exit_codes']) : null,
    needs: needsOf(job['needs']),
    dependencies: isStrings(dependencies) ? dependencies : null,
    tags: kind === 'bridge' ? [] : listOf(job['tags']),
    resource_group: textOf(job['resource_group']),
    environment: environmentOf(job['environment']),
    interruptible: boolOf(job['interruptible']) ?? false,
    retry: retryOf(job['retry']),
    timeout: durationOf(job['timeout']),
    instances: instancesOf(name, job['parallel']),
    variables: variablesOf(job['variables']),
    inherited: inheritedOf(isHash(inherit) ? inherit['variables'] : undefined),
    rules: plain ? null : flatten(rules).filter(isHash).map(ruleOf),
    only: plain ? policyOf(job['only']) : null,
    except: plain ? policyOf(job['except']) : null,
    coverage: isString(coverage) ? coverage.replace(/^\/|\/[a-z]*$/g, '') : null,
    manual_confirmation: textOf(job['manual_confirmation']),
    options: kind === 'bridge' ? {} : optionsOf(job),
    trigger: kind === 'bridge' ? triggerOf(job['trigger'] ?? null) : null,
  }
}

const inheritedOf = (value: Tree | undefined): boolean | readonly string[] =>
  isStrings(value) ? value : (boolOf(value) ?? true)

function needsOf(value: Tree | undefined): NeedModel[] | null {
  if (value === undefined || value === null) return null
  return (isList(value) ? value : [value]).flatMap((need): NeedModel[] => {
    const hash = isString(need) ? Object.assign(newHash(), { job: need }) : need
    if (!isHash(hash)) return []
    const name = textOf(hash['job'])
    const { parallel } = hash
    const chosen = name !== null && isHash(parallel) ? instancesOf(name, parallel) : null
    return name === null
      ? []
      : [
          {
            name,
            artifacts: boolOf(hash['artifacts']) ?? true,
            optional: boolOf(hash['optional']) ?? false,
            instances: chosen && chosen.map((instance) => instance.name),
          },
        ]
  })
}

function environmentOf(value: Tree | undefined): EnvironmentModel | null {
  const hash = isString(value) ? Object.assign(newHash(), { name: value }) : value
  const name = isHash(hash) ? textOf(hash['name']) : null
  if (!isHash(hash) || name === null) return null
  return {
    name,
    url: textOf(hash['url']),
    action: (textOf(hash['action']) ?? 'start') as EnvironmentAction,
    on_stop: textOf(hash['on_stop']),
    auto_stop_in: textOf(hash['auto_stop_in']),
    tier: textOf(hash['deployment_tier']) as EnvironmentTier | null,
  }
}

function retryOf(value: Tree | undefined): PlannedRetry {
  if (!isHash(value)) return { max: isInteger(value) ? value : 0, when: ['always'], exit_codes: [] }
  const [when, exit_codes] = [listOf(value['when']), numbersOf(value['exit_codes'])]
  const max = isInteger(value['max']) ? value['max'] : 0
  return { max, when: when.length + exit_codes.length === 0 ? ['always'] : when, exit_codes }
}

function ruleOf(rule: Hash): RuleModel {
  return {
    ...conditionsOf(rule),
    when: textOf(rule['when']) as When | 'never' | null,
    start_in: durationOf(rule['start_in']),
    allow_failure: boolOf(rule['allow_failure']),
    variables: variablesOf(rule['variables']),
    needs: needsOf(rule['needs']),
    interruptible: boolOf(rule['interruptible']),
  }
}

function policyOf(value: Tree | undefined): PolicyModel | null {
  if (isList(value))
    return { refs: value.filter(isString), variables: null, changes: null, kubernetes: false }
  if (!isHash(value)) return null
  const { refs, variables, changes, kubernetes } = value
  return {
    refs: isStrings(refs) ? refs : null,
    variables: isStrings(variables) ? variables.flatMap((text) => readExpression(text) ?? []) : null,
    changes: isStrings(changes) ? changes : null,
    kubernetes: kubernetes === 'active',
  }
}
