import { isText } from './faults.ts'
import type { Variable } from './plan.ts'
import { isHash, type Tree } from './yaml/tree.ts'

/** Checked variables: numbers become texts, `expand: false` makes a value raw, no value is an empty text. */
export function variablesOf(value: Tree | undefined): Variable[] {
  if (!isHash(value)) return []
  return Object.entries(value).map(([key, variable]): Variable => {
    if (!isHash(variable)) return { key, value: isText(variable) ? String(variable) : '' }
    const text = variable['value']
    const plain = { key, value: isText(text) ? String(text) : '' }
    return variable['expand'] === false ? { ...plain, raw: true } : plain
  })
}
