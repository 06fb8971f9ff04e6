import type { Ref } from './refs.ts'
import type { Spawner } from '../processes/spawner.ts'

/** `updated` is the date of an annotated tag, else of the commit; `version` reads numbers in names as numbers. */
export type RefOrder = 'name' | 'updated' | 'version'

export interface RefSorting {
  readonly by: RefOrder
  readonly descending?: boolean
}

const keys: Readonly<Record<RefOrder, string>> = {
  name: 'refname',
  updated: 'creatordate',
  version: 'version:refname',
}

/**
 * The refs below `prefix` in that order or its reverse. Refs that the order does not tell apart follow by name in both,
 * as git has it. Throws GitError when git fails.
 */
export async function sortedRefs(
  spawner: Spawner,
  gitDirectory: string,
  prefix: string,
  { by, descending = false }: RefSorting,
): Promise<Pick<Ref, 'name' | 'id'>[]> {
  const args = [
    'for-each-ref',
    '--sort=refname',
    `--sort=${descending ? '-' : ''}${keys[by]}`,
    '--format=%(objectname) %(refname)',
    prefix,
  ]
  const lines = (await spawner.run(args, { gitDirectory })).toString().split('\n')
  return lines.filter((line) => line !== '').map((line) => ({ id: line.slice(0, 40), name: line.slice(41) }))
}
