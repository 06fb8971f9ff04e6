import { readExpression } from '../expression.ts'
import * as f from '../faults.ts'
import { checkNeeds } from './needs.ts'
import { flatten, isHash, isList, type Hash, type Tree } from '../yaml/tree.ts'
import { checkVariables } from './variables.ts'
import { checkStartIn, WHENS } from './when.ts'

const MAX_ENTRIES = 50
const MAX_NESTING = 10

/** A list of hashes, in which lists may be nested ten levels deep. */
const isRuleList = (value: Tree, depth = 0): boolean =>
  isList(value) &&
  depth < MAX_NESTING &&
  value.every((each) => isHash(each) || (isList(each) && isRuleList(each, depth + 1)))

const condition: f.Check = (at, value) => {
  if (!f.isString(value) || readExpression(value) === null)
    f.attribute(() => false, 'invalid expression syntax')(at, value)
}
const entries =
  (message: string): f.Check =>
  (at, value) => {
    if (!f.isStrings(value)) f.report(at, message)
    else if (value.length > MAX_ENTRIES) f.report(at, `has too many entries (maximum ${MAX_ENTRIES})`)
  }
const changesHash = f.hash({ paths: entries('should be an array of strings'), compare_to: f.string })
const changes: f.Check = (at, value) => {
  if (!isHash(value)) return entries('should be an array or a hash')(at, value)
  f.checkRequired(at, value, ['paths'])
  changesHash(at, value)
}
const BAD_EXISTS = 'should be a string, an array of strings, or a hash'
const existsHash = f.hash({ paths: entries(BAD_EXISTS), project: f.string, ref: f.string })
const exists: f.Check = (at, value) => {
  if (f.isString(value)) return
  if (!isHash(value)) return entries(BAD_EXISTS)(at, value)
  f.checkRequired(at, value, ['paths'])
  existsHash(at, value)
  if ('ref' in value && !('project' in value)) f.report(at, 'requires project to be specified', 'ref')
}

const ruleHash = f.hash({
  if: condition,
  changes,
  exists,
  when: f.oneOf([...WHENS, 'never']),
  start_in: f.anything,
  allow_failure: f.attribute(f.isBoolean, 'should be a boolean value'),
  variables: checkVariables,
  needs: checkNeeds,
  interruptible: f.bool,
})
const workflowRuleHash = f.hash({
  if: condition,
  changes,
  exists,
  when: f.oneOf(['always', 'never']),
  variables: checkVariables,
  auto_cancel: (at, value) => autoCancel(at, value),
  start_in: f.anything,
  allow_failure: f.anything,
  needs: f.anything,
})
const includeRuleHash = f.hash({ if: condition, changes, exists, when: f.oneOf(['always', 'never']) })

const listOf =
  (each: (at: f.At, rule: Hash) => void): f.Check =>
  (at, value) => {
    if (!isRuleList(value)) return f.report(at, 'should be an array containing hashes and arrays of hashes')
    for (const rule of flatten(value)) if (isHash(rule)) each(f.below(at, 'rule'), rule)
  }

export const checkRules = listOf((at, rule) => {
  ruleHash(at, rule)
  checkStartIn(at, rule)
})
export const checkWorkflowRules = listOf(workflowRuleHash)
export const checkIncludeRules = listOf(includeRuleHash)

export const autoCancel = f.hash({
  on_new_commit: f.oneOf(
    ['conservative', 'interruptible', 'none'],
    'must be one of: conservative, interruptible, none',
  ),
  on_job_failure: f.oneOf(['none', 'all'], 'must be one of: none, all'),
})
