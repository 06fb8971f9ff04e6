import { ENVIRONMENT_NAME_FORMAT, TIERS } from '../../../core/delivery/environments.ts'
import { readDuration } from '../duration.ts'
import * as f from '../faults.ts'
import * as keyword from './keyword.ts'
import { checkNeeds } from './needs.ts'
import { checkPolicy } from './policy.ts'
import { checkRules } from './rules.ts'
import { isHash, isList, show, type Hash, type Tree } from '../yaml/tree.ts'
import { checkTrigger } from './trigger.ts'
import { checkVariables } from './variables.ts'
import { checkStartIn, WHENS } from './when.ts'

// The keywords of jobs and bridges.

const environmentHash = f.hash({
  name: f.anything,
  url: f.anything,
  action: f.anything,
  on_stop: f.attribute(f.isString, 'should be a string'),
  auto_stop_in: f.attribute(
    (value) =>
      value === 'never' || (f.isString(value) && (value.includes('$') || readDuration(value) !== null)),
    'should be a duration',
  ),
  deployment_tier: f.attribute(
    (value) => TIERS.some((tier) => tier === value),
    `must be one of ${TIERS.join(', ')}`,
  ),
})
const isName = (value: Tree): boolean =>
  f.isString(value) && value.length <= 255 && /^[A-Za-z0-9\-_/$ {}.]+$/.test(value)

const environment: f.Check = (at, value) => {
  if (!f.isString(value) && !isHash(value)) return f.report(at, 'should be a hash or a string')
  const name = f.isString(value) ? value : value['name']
  if (name === undefined || name === null || name === '') f.report(at, "can't be blank", 'name')
  else if (!isName(name)) f.report(at, ENVIRONMENT_NAME_FORMAT, 'name')
  if (!isHash(value)) return
  environmentHash(at, value)
  const { url, action } = value
  if (url !== undefined && (!f.isString(url) || url.length > 255)) f.report(at, 'should be a string', 'url')
  if (action !== undefined && !['start', 'stop', 'prepare', 'verify', 'access'].includes(show(action)))
    f.report(at, 'should be start, stop, prepare, verify, or access', 'action')
}

const allowFailure: f.Check = (at, value) => {
  if (f.isBoolean(value)) return
  if (!isHash(value)) return f.attribute(() => false, 'should be a hash or a boolean value')(at, value)
  f.hash({ exit_codes: keyword.exitCodes })(at, value)
}

export const MAX_PARALLEL = 200
const parallel: f.Check = (at, value) => {
  if (f.isInteger(value)) {
    if (value < 1) f.report(at, 'must be greater than or equal to 1')
    if (value > MAX_PARALLEL) f.report(at, `must be less than or equal to ${MAX_PARALLEL}`)
    return
  }
  if (!isHash(value)) return at.faults.add(`${at.path} should be an integer or a hash`.toLowerCase())
  f.checkRequired(at, value, ['matrix'])
  f.hash({ matrix })(at, value)
}
const matrix: f.Check = (at, value) => {
  if (!isList(value) || !value.every(isHash)) return f.report(at, 'should be an array of hashes')
  let total = 0
  for (const item of value) {
    const values = Object.values(item)
    if (!values.every((each) => f.isText(each) || (isList(each) && each.length > 0 && each.every(f.isText))))
      return f.report(at, 'should be a hash of key value pairs, value can be an array', 'variables config')
    total += values.reduce<number>((count, each) => count * (isList(each) ? each.length : 1), 1)
  }
  if (total === 0) f.report(at, 'requires at least 1 item')
  if (total > MAX_PARALLEL) f.report(at, `generates too many jobs (maximum is ${MAX_PARALLEL})`)
}

const release: f.Check = (at, value) => {
  if (!isHash(value)) return f.report(at, 'should be a hash')
  f.checkRequired(at, value, ['tag_name', 'description'])
  const text = f.attribute(f.isString, 'should be a string')
  f.hash({
    tag_name: text,
    tag_message: text,
    description: text,
    name: text,
    ref: text,
    milestones: f.attribute(
      (each) => f.isString(each) || f.isStrings(each),
      'should be an array of strings or a string',
    ),
    released_at: f.attribute(
      (each) => f.isString(each) && !Number.isNaN(Date.parse(each)),
      'must be a valid datetime',
    ),
    assets: f.hash({ links: f.anything }),
  })(at, value)
}

const inheritHash = (() => {
  const check: f.Check = f.must(
    (value) => f.isBoolean(value) || f.isStrings(value),
    'should be a bool or array of strings',
  )
  return f.hash({ default: check, variables: check })
})()

const pages: f.Check = (at, value) => {
  if (!f.isBoolean(value))
    f.hash({ publish: f.string, path_prefix: f.string, expire_in: f.anything })(at, value)
}

const shared: Readonly<Record<string, f.Check>> = {
  stage: f.string,
  only: checkPolicy,
  except: checkPolicy,
  rules: checkRules,
  variables: checkVariables,
  inherit: inheritHash,
  allow_failure: allowFailure,
  when: f.oneOf(WHENS),
  needs: checkNeeds,
  extends: f.attribute(
    (value) => f.isString(value) || f.isStrings(value),
    'should be an array of strings or a string',
  ),
  resource_group: f.attribute(f.isString, 'should be a string'),
  interruptible: f.bool,
  parallel,
  environment,
  manual_confirmation: f.attribute(f.isString, 'should be a string'),
}
const BUILD: Readonly<Record<string, f.Check>> = {
  ...shared,
  ...keyword.DEFAULT_CHECKS,
  script: f.script,
  type: f.string,
  start_in: f.anything,
  dependencies: f.attribute(f.isStrings, 'should be an array of strings'),
  coverage: keyword.coverage,
  release,
  secrets: f.must(isHash, 'should be a hash'),
  identity: f.string,
  pages,
  publish: f.attribute(f.isString, 'should be a string'),
}
const BRIDGE: Readonly<Record<string, f.Check>> = {
  ...shared,
  trigger: checkTrigger,
  tags: f.anything,
  allow_failure: f.attribute(f.isBoolean, 'should be a boolean value'),
  when: f.oneOf(WHENS.filter((when) => when !== 'delayed')),
  parallel: (at, value) => {
    if (isHash(value)) parallel(at, value)
    else f.report(at, 'cannot use "parallel: <number>".')
  },
}
const NO_BRIDGE_KEYS = new Set(['tags'])

const build = f.hash(BUILD)
const bridge = f.hash(Object.fromEntries(Object.entries(BRIDGE).filter(([key]) => !NO_BRIDGE_KEYS.has(key))))

/** Reports the faults of one job's keywords. */
export function checkJob(at: f.At, job: Hash): void {
  const isBridge = 'trigger' in job && !('script' in job)
  if ('trigger' in job && 'script' in job) f.checkTogether(at, job, ['script', 'trigger'])
  else (isBridge ? bridge : build)(at, job)
  if (!('trigger' in job) && !('script' in job))
    f.report(at, 'should contain either a trigger or a needs:pipeline')
  const excluded = ['only', 'except', 'start_in'].filter((key) => key in job)
  if ('rules' in job && excluded.length > 0)
    f.report(at, `key may not be used with \`rules\`: ${excluded.join(', ')}`)
  checkStartIn(at, job)
  checkDependencies(at, job)
}

function checkDependencies(at: f.At, { dependencies, needs }: Hash): void {
  if (!f.isStrings(dependencies) || !isList(needs)) return
  const needed = new Set(needs.map((need) => (isHash(need) ? need['job'] : need)))
  const missing = dependencies.filter((name) => !needed.has(name))
  if (missing.length > 0 && dependencies.length > 0)
    f.report(at, `the ${missing.join(', ')} should be part of needs`, 'dependencies')
}
