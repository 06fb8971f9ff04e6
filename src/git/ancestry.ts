import { isSha } from './names.ts'
import type { Spawner } from './spawner.ts'

/** Those of the refs, by their full names, whose commits the history of `tip` holds; of all branches without `refs`. */
export async function mergedInto(
  spawner: Spawner,
  gitDirectory: string,
  tip: string,
  refs: readonly string[],
): Promise<Set<string>> {
  if (!isSha(tip)) throw new TypeError('Only full hashes are looked for')
  if (refs.length === 0) return new Set()
  const args = ['for-each-ref', `--merged=${tip}`, '--format=%(refname)', ...refs]
  const lines = (await spawner.run(args, { gitDirectory })).toString().split('\n')
  return new Set(lines.filter((line) => line !== ''))
}
