import { isGitError } from '../errors.ts'
import { countReachable } from './graph_count.ts'
import { bestCommonAncestor, reachedFrom } from './graph_reach.ts'
import type { Found } from './graphs.ts'
import type { WalkTools } from './log.ts'
import { isSha } from '../names.ts'
import { shortRef, type ShortRef, type TipList } from '../refs/tips.ts'

/** Ancestry queries. Commits are full hashes of commits; TypeError for anything else. */
export interface Reach {
  /** How many commits are reachable from `sha`, itself included. Throws GitError when there is no such commit. */
  count(sha: string, options?: { firstParent?: boolean }): Promise<number>
  /** The branches, then the tags, whose history holds `sha`, each in the order of names. Throws GitError like `count`. */
  refsContaining(sha: string, types: readonly ShortRef['type'][]): Promise<ShortRef[]>
  /** True when `ancestor` is `descendant` or in its history. Throws GitError like `count`. */
  isAncestor(ancestor: string, descendant: string): Promise<boolean>
  /** The best common ancestor, of several equally good the newest; undefined for none. Throws GitError like `count`. */
  mergeBase(a: string, b: string): Promise<string | undefined>
  /** All best common ancestors. Throws GitError like `count`. */
  mergeBases(a: string, b: string): Promise<string[]>
  /** The same of `a` and a merge of all others, were there one, as `git merge-base` tells. */
  mergeBaseOfAll(a: string, others: readonly string[]): Promise<string | undefined>
}

const positions = new WeakMap<TipList, Found>()

/** Those questions about the repository in `gitDirectory`; git answers where its graph cannot. */
export function reachAt(tools: WalkTools, gitDirectory: string): Reach {
  return {
    count: (sha, options) => count(tools, gitDirectory, checked(sha), options?.firstParent === true),
    refsContaining: (sha, types) => refsContaining(tools, gitDirectory, checked(sha), types),
    isAncestor: (ancestor, descendant) =>
      isAncestor(tools, gitDirectory, checked(ancestor), checked(descendant)),
    mergeBase: (a, b) => mergeBase(tools, gitDirectory, checked(a), checked(b)),
    mergeBases: (a, b) => mergeBases(tools, gitDirectory, [checked(a), checked(b)]),
    mergeBaseOfAll: (a, others) => gitMergeBase(tools, gitDirectory, [checked(a), ...others.map(checked)]),
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
  if (types.length === 0) return []
  const { graphs, run, tips } = tools
  const list = await tips.list(gitDirectory)
  const sought = await graphs.with(gitDirectory, [sha])
  const found = sought === undefined ? undefined : await findTips(tools, gitDirectory, { list, sought })
  if (sought === undefined || found === undefined) {
    const args = ['for-each-ref', '--format=%(refname)', `--contains=${sha}`, 'refs/heads/', 'refs/tags/']
    const names = (await run(args, { gitDirectory })).toString().split('\n')
    return names
      .filter((name) => name !== '')
      .map(shortRef)
      .filter(({ type }) => types.includes(type))
  }
  const reached = await reachedFrom(found.graph, found.graph.find(sha), found.positions)
  return list.tips
    .filter(({ ref }, index) => reached[index] === true && types.includes(ref.type))
    .map(({ ref }) => ref)
}

/** Where all tips are in the graph that `sought` came from; remembered as long as neither changes. */
async function findTips(
  { graphs }: WalkTools,
  gitDirectory: string,
  { list, sought }: { list: TipList; sought: Found },
): Promise<Found | undefined> {
  const known = positions.get(list)
  if (known?.graph === sought.graph) return known
  const commits = list.tips.map(({ commit }) => commit)
  const found = await graphs.with(gitDirectory, commits)
  // Replaced between the two questions: so seldom that git may answer.
  if (found?.graph !== sought.graph) return undefined
  positions.set(list, found)
  return found
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
  tools: WalkTools,
  gitDirectory: string,
  a: string,
  b: string,
): Promise<string | undefined> {
  const { graphs } = tools
  const found = await graphs.with(gitDirectory, [a, b])
  if (found !== undefined) {
    const [one = -1, other = -1] = found.positions
    const best = await bestCommonAncestor(found.graph, one, other)
    return best === -1 ? undefined : found.graph.sha(best)
  }
  return gitMergeBase(tools, gitDirectory, [a, b])
}

async function mergeBases(
  { run }: WalkTools,
  gitDirectory: string,
  shas: readonly string[],
): Promise<string[]> {
  const args = ['merge-base', '--all', '--end-of-options', ...shas]
  return ((await answer(run(args, { gitDirectory }))) ?? '').toString().split('\n').filter(isSha)
}

async function gitMergeBase(
  { run }: WalkTools,
  gitDirectory: string,
  shas: readonly string[],
): Promise<string | undefined> {
  const base = await answer(run(['merge-base', '--end-of-options', ...shas], { gitDirectory }))
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
