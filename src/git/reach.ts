import { isGitError } from './errors.ts'
import { countReachable } from './graph_count.ts'
import { bestCommonAncestor, reachedFrom } from './graph_reach.ts'
import type { Found } from './graphs.ts'
import type { WalkTools } from './log.ts'
import { isSha } from './names.ts'
import type { Tip, TipList } from './tips.ts'

/** A branch or tag by its short name. */
export interface ShortRef {
  readonly type: 'branch' | 'tag'
  readonly name: string
}

/** What is asked about who descends from whom. Commits are full hashes of commits; TypeError for anything else. */
export interface Reach {
  /** How many commits are reachable from `sha`, itself included. Throws GitError when there is no such commit. */
  count(sha: string, options?: { firstParent?: boolean }): Promise<number>
  /** The branches, then the tags, whose history holds `sha`, each in the order of names. Throws GitError like `count`. */
  refsContaining(sha: string, types: readonly ShortRef['type'][]): Promise<ShortRef[]>
  /** True when `ancestor` is `descendant` or in its history. Throws GitError like `count`. */
  isAncestor(ancestor: string, descendant: string): Promise<boolean>
  /** The best common ancestor, of several equally good the newest; undefined for none. Throws GitError like `count`. */
  mergeBase(a: string, b: string): Promise<string | undefined>
}

const places = { branch: 'refs/heads/', tag: 'refs/tags/' } as const
const positions = new WeakMap<TipList, Found>()

/** Those questions about the repository in `gitDirectory`; git answers where its graph cannot. */
export function reachAt(tools: WalkTools, gitDirectory: string): Reach {
  return {
    count: (sha, options) => count(tools, gitDirectory, checked(sha), options?.firstParent === true),
    refsContaining: (sha, types) => refsContaining(tools, gitDirectory, checked(sha), types),
    isAncestor: (ancestor, descendant) =>
      isAncestor(tools, gitDirectory, checked(ancestor), checked(descendant)),
    mergeBase: (a, b) => mergeBase(tools, gitDirectory, checked(a), checked(b)),
  }
}

function checked(sha: string): string {
  if (!isSha(sha)) throw new TypeError('Commits are named by full hashes')
  return sha
}

async function count(
  { graphs, run }: WalkTools,
  gitDirectory: string,
  sha: string,
  firstParent: boolean,
): Promise<number> {
  const found = await graphs.with(gitDirectory, [sha])
  if (found !== undefined) return countReachable(found.graph, found.positions[0] ?? -1, firstParent)
  const args = [
    'rev-list',
    '--count',
    ...(firstParent ? ['--first-parent'] : []),
    '--end-of-options',
    sha,
    '--',
  ]
  return Number((await run(args, { gitDirectory })).toString())
}

async function refsContaining(
  tools: WalkTools,
  gitDirectory: string,
  sha: string,
  types: readonly ShortRef['type'][],
): Promise<ShortRef[]> {
  const prefixes = (['branch', 'tag'] as const).filter((type) => types.includes(type))
  if (prefixes.length === 0) return []
  const { tips } = await containing(tools, gitDirectory, sha)
  return prefixes.flatMap((type) =>
    tips
      .filter((name) => name.startsWith(places[type]))
      .map((name) => ({ type, name: name.slice(places[type].length) })),
  )
}

async function containing(
  { graphs, run, tips }: WalkTools,
  gitDirectory: string,
  sha: string,
): Promise<{ tips: string[] }> {
  const list = await tips.list(gitDirectory)
  const sought = await graphs.with(gitDirectory, [sha])
  let found = positions.get(list)
  if (sought !== undefined && found?.graph !== sought.graph) {
    found = await graphs.with(gitDirectory, [...list.tips.map(({ commit }) => commit), sha])
    if (found !== undefined) positions.set(list, found)
  }
  if (sought === undefined || found === undefined) {
    const args = ['for-each-ref', '--format=%(refname)', `--contains=${sha}`, places.branch, places.tag]
    return { tips: (await run(args, { gitDirectory })).toString().split('\n') }
  }
  const commit = found.graph.find(sha)
  const ends = found.positions.slice(0, list.tips.length)
  const reached = await reachedFrom(found.graph, commit, ends)
  return { tips: list.tips.filter((_, index) => reached[index] === true).map(({ name }: Tip) => name) }
}

async function isAncestor(
  { graphs, run }: WalkTools,
  gitDirectory: string,
  ancestor: string,
  descendant: string,
): Promise<boolean> {
  const found = await graphs.with(gitDirectory, [ancestor, descendant])
  if (found !== undefined) {
    const [sought = -1, tip = -1] = found.positions
    return (await reachedFrom(found.graph, sought, [tip]))[0] === true
  }
  const args = ['merge-base', '--is-ancestor', '--end-of-options', ancestor, descendant]
  return (await answer(run(args, { gitDirectory }))) !== undefined
}

async function mergeBase(
  { graphs, run }: WalkTools,
  gitDirectory: string,
  a: string,
  b: string,
): Promise<string | undefined> {
  const found = await graphs.with(gitDirectory, [a, b])
  if (found !== undefined) {
    const [one = -1, other = -1] = found.positions
    const best = await bestCommonAncestor(found.graph, one, other)
    return best === -1 ? undefined : found.graph.sha(best)
  }
  const base = await answer(run(['merge-base', '--end-of-options', a, b], { gitDirectory }))
  return base?.toString().trimEnd()
}

/** Status 1 is how git says no; every other one that something is wrong. */
async function answer(output: Promise<Buffer>): Promise<Buffer | undefined> {
  try {
    return await output
  } catch (error) {
    if (isGitError(error, 'exit') && error.code === 1) return undefined
    throw error
  }
}
