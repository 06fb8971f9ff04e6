import * as f from '../faults.ts'
import { isHash, isList, type Tree } from '../yaml/tree.ts'

const needHash = f.hash({
  job: f.attribute((value) => f.isString(value) && value !== '', 'should be a string'),
  artifacts: f.attribute(f.isBoolean, 'should be a boolean value'),
  optional: f.attribute(f.isBoolean, 'should be a boolean value'),
  parallel: f.anything,
})

/** Names of `needs`, or hashes with a job; needs of other pipelines and projects are refused. */
export const checkNeeds: f.Check = (at, value) => {
  if (!isList(value) && !isHash(value)) return f.report(at, 'can only be a hash or an array')
  const foreign = (isList(value) ? value : [value]).filter(isForeign)
  if (foreign.length > 0) return f.report(at, 'uses invalid types: cross_dependency')
  for (const need of isList(value) ? value : [value]) {
    const inside = f.below(at, 'need')
    if (f.isString(need) && need !== '') continue
    if (!isHash(need) || !('job' in need))
      inside.faults.add(`${inside.path} has an unsupported type`.toLowerCase())
    else needHash(inside, need)
  }
}
const isForeign = (need: Tree): boolean => isHash(need) && ('project' in need || 'pipeline' in need)
