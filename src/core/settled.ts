/** Every index of records knows these beside what it is of. */
const BESIDE: readonly string[] = ['state', 'shown']

/**
 * Whether one plan is good for a list of records whatever is looked for: at most one of its conditions leads to few or to
 * many, by an index of its own, as those do that are `led`. Of two PostgreSQL has to see which is the rarer.
 */
export function isSettled<Name extends string>(conditions: readonly Name[], led: readonly Name[]): boolean {
  const leading = conditions.filter((name) => !BESIDE.includes(name))
  return leading.length <= 1 && leading.every((name) => led.includes(name))
}
