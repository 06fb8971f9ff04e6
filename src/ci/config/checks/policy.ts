import { readExpression } from '../expression.ts'
import * as f from '../faults.ts'
import { readPattern } from '../patterns.ts'
import { isHash, isList, type Tree } from '../yaml/tree.ts'

/** A ref, a word for refs, or `/re/flags`, each perhaps with `@group/project` behind it. */
const isRef = (value: Tree): boolean => {
  if (!f.isString(value)) return false
  return !value.startsWith('/') || readPattern(value.replace(/@[^/][^@]*$/, '')) !== null
}
const isRefs = (value: Tree): boolean => isList(value) && value.every(isRef)
const BAD_REFS = 'should be an array of strings or regular expressions using re2 syntax'

const policyHash = f.hash({
  refs: f.attribute(isRefs, BAD_REFS),
  kubernetes: f.attribute((value) => value === 'active', 'unknown value: kubernetes'),
  variables: (at, value) => {
    if (!f.isStrings(value)) f.attribute(() => false, 'should be an array of strings')(at, value)
    else if (!value.every((text) => readExpression(text) !== null))
      f.attribute(() => false, 'invalid expression syntax')(at, value)
  },
  changes: f.attribute(f.isStrings, 'should be an array of strings'),
})

/** `only` and `except`. */
export const checkPolicy: f.Check = (at, value) => {
  if (isList(value)) {
    if (!isRefs(value)) f.report(at, BAD_REFS)
  } else if (isHash(value)) policyHash(at, value)
  else at.faults.add(`${at.path} has to be either an array of conditions or a hash`.toLowerCase())
}
