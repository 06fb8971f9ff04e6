import * as areas from './areas.ts'
import { CALLERS, type Calls } from './calls.ts'

const ALL: readonly Calls[] = Object.values(areas)

const rowsOf = (text = ''): Map<string, number[]> =>
  new Map(
    text
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([name = '']) => /^[a-z]+[A-Z]/.test(name))
      .map(([name = '', ...cells]) => [name, cells.map(Number)]),
  )

const byOperation = new Map<string, Calls>()
for (const calls of ALL)
  for (const name of rowsOf(calls.inPrivate).keys()) {
    if (byOperation.has(name)) throw new Error(`${name} has two lines`)
    byOperation.set(name, calls)
  }

/** How that operation is called. */
export function callsOf(name: string): Calls {
  const found = byOperation.get(name)
  if (found === undefined) throw new Error(`test/calls says nothing of ${name}`)
  return found
}

const inPrivate = new Map(ALL.flatMap((calls) => [...rowsOf(calls.inPrivate)]))
const inPublic = new Map([...inPrivate, ...ALL.flatMap((calls) => [...rowsOf(calls.inPublic)])])
/** To whoever has signed in, internal is public. */
const inInternal = new Map(
  [...inPublic].map(([name, cells]) => [
    name,
    cells.map((cell, at) => (CALLERS[at] === 'nobody' ? (inPrivate.get(name)?.[at] ?? 0) : cell)),
  ]),
)

/** The status of every operation for each of `CALLERS`, by how visible its group and project are. */
export const roleTables = {
  private: inPrivate,
  internal: new Map([...inInternal, ...ALL.flatMap((calls) => [...rowsOf(calls.inInternal)])]),
  public: inPublic,
} as const
