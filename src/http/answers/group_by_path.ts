import type { NamedOperation } from '../operation.ts'

/** Operations that one route serves, each by its method. */
type Place = [NamedOperation, ...NamedOperation[]]

/** Those of one path share a route, for routes are what a start takes longest over; large bodies need one for themselves. */
export function groupByPath(operations: readonly NamedOperation[]): Place[] {
  const places = new Map<string, Place>()
  for (const op of operations) {
    const key = op.takes === undefined && op.receives === undefined ? op.path : `${op.method} ${op.path}`
    const place = places.get(key)
    if (place === undefined) places.set(key, [op])
    else place.push(op)
  }
  return [...places.values()]
}
