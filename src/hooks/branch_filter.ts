import { RE2JS } from 're2js'
import { matches } from '../core/repositories/protected_branches.ts'
import type { WebHook } from './rows.ts'

type Filter = Pick<WebHook, 'push_events_branch_filter' | 'branch_filter_strategy'>

/** Whether a webhook hears of pushes to the branch of that full name. */
export function branchMatches(
  { push_events_branch_filter: filter, branch_filter_strategy }: Filter,
  ref: string,
): boolean {
  if (filter === null || filter === '' || branch_filter_strategy === 'all_branches') return true
  const branch = ref.replace(/^refs\/heads\//, '')
  return branch_filter_strategy === 'regex'
    ? RE2JS.compile(filter).matcher(branch).find()
    : matches(filter, branch)
}

/** Whether a filter can be kept: a pattern of branch names, or an expression that compiles. */
export function isBranchFilter(filter: string, strategy: WebHook['branch_filter_strategy']): boolean {
  if (filter === '' || strategy === 'all_branches') return true
  if (strategy === 'wildcard') return !/[\s~^:?[\\]|\.\.|\/\/|^\/|\/$|\.$|@\{|\.lock$/.test(filter)
  try {
    RE2JS.compile(filter)
    return true
  } catch {
    return false
  }
}
