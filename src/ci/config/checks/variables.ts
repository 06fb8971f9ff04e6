import * as f from '../faults.ts'
import { isHash, isList, type Tree } from '../yaml/tree.ts'

const DEFINITION = 'variable definition must be either a string or a hash'

const checkEach =
  (allowed: readonly string[]): f.Check =>
  (at, value) => {
    if (!isHash(value)) return f.report(at, 'should be a hash')
    for (const [key, variable] of Object.entries(value)) {
      const inside = f.below(at, key)
      if (f.isText(variable)) continue
      if (isHash(variable)) checkDefinition(inside, variable, allowed)
      else f.report(inside, DEFINITION)
    }
  }

function checkDefinition(
  at: f.At,
  variable: Readonly<Record<string, Tree>>,
  allowed: readonly string[],
): void {
  const unknown = Object.keys(variable).filter((key) => !allowed.includes(key))
  if (unknown.length > 0) return f.report(at, `uses invalid data keys: ${unknown.join(', ')}`)
  const { value = '', description, options, expand } = variable
  if (!f.isText(value)) f.report(at, 'value must be a string')
  if (description !== undefined && !f.isString(description)) f.report(at, 'description must be a string')
  if (expand !== undefined && !f.isBoolean(expand)) f.report(at, 'expand must be a boolean value')
  if (options === undefined) return
  if (!isList(options) || !options.every(f.isText)) f.report(at, 'options must be an array of strings')
  else if (!f.isText(value) || !options.includes(value)) f.report(at, 'value must be present in options')
}

/** Variables of a job or a rule. */
export const checkVariables = checkEach(['value', 'expand'])
/** Variables of the root: a form shows them. */
export const checkRootVariables = checkEach(['value', 'description', 'options', 'expand'])
