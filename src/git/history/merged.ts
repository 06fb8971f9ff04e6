import type { WalkTools } from './log.ts'
import { isSha } from '../names.ts'
import { Slice } from '../event_loop.ts'

const checkEvery = 1_024
const maxAnswerBytes = 256 * 1024 * 1024

/**
 * Those of the commits that are `tip` or in its history, found in one walk however many they are.
 * Throws TypeError for anything but full hashes, GitError when one is no commit.
 */
export async function mergedInto(
  tools: WalkTools,
  gitDirectory: string,
  tip: string,
  commits: readonly string[],
): Promise<Set<string>> {
  if (![tip, ...commits].every(isSha)) throw new TypeError('Commits are named by full hashes')
  if (commits.length === 0) return new Set()
  const found = await tools.graphs.with(gitDirectory, [tip, ...commits])
  if (found === undefined) return askGit(tools, gitDirectory, tip, commits)
  const { graph, positions } = found
  const sought = positions.slice(1)
  // Nothing that is sought lies below the lowest of them.
  const floor = sought.reduce((least, at) => Math.min(least, graph.level[at] ?? 0), Infinity)
  const reached = new Uint8Array(graph.size)
  const waiting = positions.slice(0, 1)
  const slice = new Slice()
  let steps = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (reached[next] === 1 || (graph.level[next] ?? 0) < floor) continue
    reached[next] = 1
    waiting.push(...graph.parents(next))
    steps += 1
    if (steps % checkEvery === 0 && slice.isOver()) await slice.rest()
  }
  return new Set(commits.filter((_, i) => reached[sought[i] ?? -1] === 1))
}

async function askGit(
  { run }: WalkTools,
  gitDirectory: string,
  tip: string,
  commits: readonly string[],
): Promise<Set<string>> {
  const input = [`^${tip}`, ...commits, ''].join('\n')
  const output = await run(['rev-list', '--stdin'], { gitDirectory, input, maxBytes: maxAnswerBytes })
  const apart = new Set(output.toString('latin1').split('\n'))
  return new Set(commits.filter((sha) => !apart.has(sha)))
}
