import { isInteger } from '../faults.ts'
import { MAX_PARALLEL } from '../checks/job.ts'
import type { InstanceModel } from '../model.ts'
import type { Variable } from '../plan.ts'
import { isHash, isList, show, type Hash, type Tree } from '../yaml/tree.ts'

/** The instances of a parallel job: `name 1/3`, or `name: [a, b]` for each combination of a matrix. */
export function instancesOf(name: string, parallel: Tree | undefined): InstanceModel[] | null {
  if (isInteger(parallel)) {
    const total = Math.min(Math.max(parallel, 1), MAX_PARALLEL)
    return Array.from({ length: total }, (_, at) => ({
      name: `${name} ${at + 1}/${total}`,
      index: at + 1,
      total,
      variables: [],
    }))
  }
  if (!isHash(parallel) || !isList(parallel['matrix'])) return null
  const rows = parallel['matrix'].filter(isHash).flatMap(combinations).slice(0, MAX_PARALLEL)
  return rows.map((variables, at) => ({
    name: `${name}: [${variables.map(({ value }) => value).join(', ')}]`,
    index: at + 1,
    total: rows.length,
    variables,
  }))
}

/** The product of the values of one item, the last key changing fastest. */
function combinations(item: Hash): Variable[][] {
  let rows: Variable[][] = [[]]
  for (const [key, given] of Object.entries(item)) {
    const values = isList(given) ? given : [given]
    rows = rows.flatMap((row) => values.map((value) => [...row, { key, value: show(value) }]))
    if (rows.length > MAX_PARALLEL) return rows.slice(0, MAX_PARALLEL + 1)
  }
  return rows
}
