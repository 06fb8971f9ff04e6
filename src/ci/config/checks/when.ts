import { readDuration, WEEK } from '../duration.ts'
import * as f from '../faults.ts'
import type { Hash } from '../yaml/tree.ts'

export const WHENS = ['on_success', 'on_failure', 'always', 'manual', 'delayed'] as const

/** `start_in` belongs to `when: delayed` and to nothing else; of a job or of a rule. */
export function checkStartIn(at: f.At, { when, start_in }: Hash): void {
  if (when !== 'delayed') {
    if (start_in !== undefined && start_in !== null) f.report(at, 'must be blank', 'start_in')
    return
  }
  const seconds = f.isText(start_in) ? readDuration(String(start_in)) : null
  if (seconds === null) f.report(at, 'should be a duration', 'start_in')
  else if (seconds > WEEK) f.report(at, 'should not exceed the limit', 'start_in')
}
