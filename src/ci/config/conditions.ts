import { readExpression } from './expression.ts'
import { isStrings } from './faults.ts'
import type { Conditions } from './model.ts'
import { isHash, type Hash, type Tree } from './yaml/tree.ts'

const listOf = (value: Tree | undefined): readonly string[] =>
  typeof value === 'string' ? [value] : isStrings(value) ? value : []
const textOf = (value: Tree | undefined): string | null => (typeof value === 'string' ? value : null)

/** The conditions of a checked rule. */
export function conditionsOf(rule: Hash): Conditions {
  const { if: condition, changes, exists } = rule
  const changed = isHash(changes) ? changes : { paths: changes ?? null }
  const existing = isHash(exists) ? exists : { paths: exists ?? null }
  return {
    if: typeof condition === 'string' ? readExpression(condition) : null,
    changes:
      changes === undefined || changes === null
        ? null
        : { paths: listOf(changed['paths']), compare_to: textOf(changed['compare_to']) },
    exists:
      exists === undefined || exists === null
        ? null
        : {
            paths: listOf(existing['paths']),
            project: textOf(existing['project']),
            ref: textOf(existing['ref']),
          },
  }
}
