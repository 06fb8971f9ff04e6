import { generations } from './graph_decode.ts'
import type { Graph } from './graph.ts'
import { Queue } from './graph_queue.ts'
import { Scratch } from './scratch.ts'
import { Slice } from '../event_loop.ts'

const checkEvery = 1_024
const yes = 1
const no = 2

/** For each of `tips`, whether `commit` is the tip or one of its ancestors. No commit is looked at twice for it. */
export async function reachedFrom(graph: Graph, commit: number, tips: readonly number[]): Promise<boolean[]> {
  const answers = new Scratch(graph.size)
  const floor = graph.level[commit] ?? 0
  const slice = new Slice()
  const path: number[] = []
  let steps = 0
  answers.set(commit, yes)
  const { first, second, level } = graph
  /** Generation numbers: a commit as low as the target, or lower, cannot reach it. */
  const glance = (other: number): number => {
    const known = answers.get(other)
    return known === 0 && (level[other] ?? 0) <= floor ? no : known
  }
  /** The first parent that may lead there; -1 when all are known not to. */
  const wayFrom = (next: number): number => {
    const one = first[next] ?? -1
    if (one === -1 || glance(one) !== no) return one
    const two = second[next] ?? -1
    if (two >= -1) return two === -1 || glance(two) === no ? -1 : two
    return graph.parents(next).find((parent) => glance(parent) !== no) ?? -1
  }
  for (const tip of tips) {
    if (glance(tip) === 0) path.push(tip)
    for (let next = path.at(-1); next !== undefined; next = path.at(-1)) {
      steps += 1
      if (steps % checkEvery === 0 && slice.isOver()) await slice.rest()
      const way = wayFrom(next)
      const answer = way === -1 ? no : answers.get(way)
      if (answer === 0) path.push(way)
      else {
        answers.set(next, answer)
        path.pop()
      }
    }
  }
  const reached = tips.map((tip) => answers.get(tip) === yes)
  answers.release()
  return reached
}

const one = 1
const other = 2
const both = 3
const stale = 4

/** The newest of the best common ancestors of two commits; -1 when they have none in common. */
export async function bestCommonAncestor(graph: Graph, a: number, b: number): Promise<number> {
  const marks = new Scratch(graph.size)
  // Of equally new ones git takes the one it meets first, in the order of its own generation numbers if it has them.
  const queue = graph.hasOffsets ? new Queue(allGenerations(graph), graph.time) : new Queue(graph.level)
  const slice = new Slice()
  let best = -1
  /** How many wait that are no ancestors of a common ancestor already found. */
  let open = 0
  let steps = 0
  const meet = (commit: number, added: number): void => {
    const known = marks.get(commit)
    if (known === 0) queue.push(commit)
    if (known === 0 && (added & stale) === 0) open += 1
    if (known !== 0 && (known & stale) === 0 && (added & stale) !== 0) open -= 1
    marks.set(commit, known | added)
  }
  meet(a, one)
  meet(b, other)
  while (open > 0) {
    steps += 1
    if (steps % checkEvery === 0 && slice.isOver()) await slice.rest()
    const commit = queue.pop()
    let passed = marks.get(commit)
    if ((passed & stale) === 0) {
      open -= 1
      // All its descendants have been looked at, as their levels are higher: so no better one can follow.
      if (passed === both) {
        passed |= stale
        if (best === -1 || (graph.time[commit] ?? 0) > (graph.time[best] ?? 0)) best = commit
      }
    }
    for (const parent of graph.parents(commit)) meet(parent, passed)
  }
  marks.release()
  return best
}

/** The generations of the files, gone on with by the same rule for commits that no file holds. */
function allGenerations(graph: Graph): Float64Array {
  const filed = generations(graph)
  if (filed.length === graph.size) return filed
  const all = new Float64Array(graph.size)
  all.set(filed)
  const fresh = Array.from({ length: graph.size - graph.filed }, (_, index) => graph.filed + index)
  for (const commit of fresh.sort((a, b) => (graph.level[a] ?? 0) - (graph.level[b] ?? 0))) {
    const above = graph.parents(commit).map((parent) => (all[parent] ?? 0) + 1)
    all[commit] = Math.max(graph.time[commit] ?? 0, ...above)
  }
  return all
}
