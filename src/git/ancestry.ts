import { isGitError } from './errors.ts'
import { isSha } from './names.ts'
import type { Spawner } from './spawner.ts'

/** A branch or tag by its short name. */
export interface NamedRef {
  readonly type: 'branch' | 'tag'
  readonly name: string
}

/** The branches, then the tags, in the order of their names, whose history holds the commit. */
export async function refsContaining(
  spawner: Spawner,
  gitDirectory: string,
  sha: string,
  kinds: 'all' | 'branch' | 'tag',
): Promise<NamedRef[]> {
  if (!isSha(sha)) throw new TypeError('Only full hashes are looked for')
  const places = [...(kinds === 'tag' ? [] : ['refs/heads']), ...(kinds === 'branch' ? [] : ['refs/tags'])]
  const args = ['for-each-ref', `--contains=${sha}`, '--format=%(refname)', ...places]
  const lines = (await spawner.run(args, { gitDirectory })).toString().split('\n')
  return lines
    .filter((line) => line !== '')
    .map((line) =>
      line.startsWith('refs/heads/')
        ? { type: 'branch', name: line.slice('refs/heads/'.length) }
        : { type: 'tag', name: line.slice('refs/tags/'.length) },
    )
}

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

/** The best common ancestor of two commits; undefined when they have none. */
export async function mergeBase(
  spawner: Spawner,
  gitDirectory: string,
  [a, b]: readonly [string, string],
): Promise<string | undefined> {
  try {
    const output = await spawner.run(['merge-base', '--end-of-options', a, b], { gitDirectory })
    return output.toString('latin1').trim()
  } catch (error) {
    if (isGitError(error, 'exit') && error.code === 1) return undefined
    throw error
  }
}
