import type { Graph } from './graph.ts'
import { Queue } from './graph_queue.ts'
import { Scratch } from './scratch.ts'
import { Slice } from '../event_loop.ts'

const stride = 512
const maxCounted = 5_000
const worthNoting = 64
const checkEvery = 1_024
/** How many times the whole history the search for differences may cost before it is given up. */
const patience = 4

/** How many commits are reachable from `commit`, itself included; with `firstParent` only through first parents. */
export async function countReachable(graph: Graph, commit: number, firstParent: boolean): Promise<number> {
  const { chain, end } = await firstParents(graph, commit, firstParent)
  if (firstParent) return chain.length
  let count = end === -1 ? 1 : (graph.counted.get(end) ?? 0)
  let below = end === -1 ? (chain.at(-1) ?? commit) : end
  // Up the line of first parents in strides, noting each: whoever asks next starts from the nearest below.
  const work = { left: patience * graph.size + stride }
  for (let at = Math.max(0, chain.length - 1 - stride); below !== commit; at = Math.max(0, at - stride)) {
    const above = chain[at] ?? commit
    const more = await difference(graph, { above, below }, work)
    if (more === undefined) return countAll(graph, commit)
    count += more
    below = above
    if (more >= worthNoting && graph.counted.size < maxCounted) graph.counted.set(above, count)
  }
  return count
}

/** The line of first parents from `commit` to its root, or to the first whose count is known, which is `end`. */
async function firstParents(
  graph: Graph,
  commit: number,
  isWhole: boolean,
): Promise<{ chain: number[]; end: number }> {
  const chain: number[] = []
  const slice = new Slice()
  let end = commit
  while (end !== -1 && (isWhole || !graph.counted.has(end))) {
    chain.push(end)
    end = graph.first[end] ?? -1
    if (chain.length % checkEvery === 0 && slice.isOver()) await slice.rest()
  }
  return { chain, end }
}

const ofAbove = 1
const ofBelow = 2

/**
 * How many commits `above` reaches that `below`, one of its ancestors, does not. From higher levels to lower, so that a
 * commit is looked at when all its descendants have been. Undefined when that takes more steps than `work.left`.
 */
async function difference(
  graph: Graph,
  { above, below }: { above: number; below: number },
  work: { left: number },
): Promise<number | undefined> {
  const marks = new Scratch(graph.size)
  const queue = new Queue(graph.level)
  const slice = new Slice()
  let count = 0
  let open = 1
  marks.set(above, ofAbove)
  marks.set(below, ofBelow)
  queue.push(above)
  queue.push(below)
  while (open > 0 && work.left > 0) {
    work.left -= 1
    if (work.left % checkEvery === 0 && slice.isOver()) await slice.rest()
    const commit = queue.pop()
    const isBelow = marks.get(commit) === ofBelow
    if (!isBelow) {
      count += 1
      open -= 1
    }
    for (const parent of graph.parents(commit)) {
      const known = marks.get(parent)
      if (known === 0) queue.push(parent)
      if (known === 0 && !isBelow) open += 1
      if (known === ofAbove && isBelow) open -= 1
      if (known !== ofBelow) marks.set(parent, isBelow ? ofBelow : ofAbove)
    }
  }
  marks.release()
  return open === 0 ? count : undefined
}

async function countAll(graph: Graph, commit: number): Promise<number> {
  const seen = new Uint8Array(graph.size)
  const slice = new Slice()
  const pending = [commit]
  seen[commit] = 1
  let count = 0
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    count += 1
    if (count % checkEvery === 0 && slice.isOver()) await slice.rest()
    for (const parent of graph.parents(next)) {
      if (seen[parent] === 1) continue
      seen[parent] = 1
      pending.push(parent)
    }
  }
  return count
}
