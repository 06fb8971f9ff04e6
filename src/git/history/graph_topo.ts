import { generations } from './graph_decode.ts'
import { Queue } from './graph_queue.ts'
import { mark, pause, type Walk } from './graph_walk.ts'

const breath = 255

/**
 * No parent before all its children, branch by branch. Like git with a commit-graph it runs three walks in step, each
 * as far as the next needs it: the first learns what is left out, the second counts children, the third shows.
 */
export function* topological(walk: Walk): Generator<number, void> {
  const { firstParent, since } = walk.course
  const depth = new Depths(walk)
  const starts = walk.starts()
  for (const start of starts) depth.start(start)
  yield* depth.deepen()
  const stack = starts.filter((start) => depth.children[start] === 1).toReversed()
  let steps = 0
  for (let commit = stack.pop(); commit !== undefined; commit = stack.pop()) {
    steps += 1
    if ((steps & breath) === 0) yield pause
    depth.children[commit] = 0
    if (walk.time(commit) < since) continue
    while (!walk.meetParents(commit)) yield pause
    depth.learnParents(commit)
    for (const parent of walk.parents(commit)) {
      if (walk.has(parent, mark.out)) continue
      depth.read(parent)
      if (depth.reach(parent)) yield* depth.deepen()
      const left = (depth.children[parent] ?? 0) - 1
      depth.children[parent] = left
      if (left === 1) stack.push(parent)
      if (firstParent) break
    }
    if (walk.shows(commit)) yield commit
  }
}

class Depths {
  /** 1 + how many children of a commit are yet to be shown; 0 for a commit not met, or shown. */
  readonly children: Int32Array
  readonly #walk: Walk
  readonly #generation: Float64Array
  /**
   * Commits that git has parsed by now. With first parents alone it reads no others, and takes unread ones for the
   * oldest of all, wherever they stand in its queue.
   */
  readonly #known: { readonly generation: Float64Array; readonly time: Float64Array }
  readonly #toExplore: Queue
  readonly #toCount: Queue
  #lowest = Infinity

  constructor(walk: Walk) {
    const { graph } = walk.course
    this.#walk = walk
    this.#generation = generations(graph)
    this.children = new Int32Array(graph.size)
    this.#known = {
      generation: new Float64Array(this.#generation.length),
      time: new Float64Array(graph.size),
    }
    this.#toExplore = new Queue(this.#known.generation, this.#known.time)
    this.#toCount = new Queue(this.#generation, graph.time)
  }

  start(commit: number): void {
    this.read(commit)
    this.#enter(this.#toExplore, commit, mark.explored)
    this.#enter(this.#toCount, commit, mark.counted)
    this.reach(commit)
    this.children[commit] = 1
  }

  /** True when `commit` is lower than all that has been counted: then `deepen` has to go there. */
  reach(commit: number): boolean {
    const own = this.#generation[commit] ?? Infinity
    if (own >= this.#lowest) return false
    this.#lowest = own
    return true
  }

  /** Counts the children of everything down to the lowest commit reached. */
  *deepen(): Generator<number, void> {
    const walk = this.#walk
    let steps = 0
    while (isDue(this.#toCount, this.#generation, this.#lowest)) {
      steps += 1
      if ((steps & breath) === 0) yield pause
      const commit = this.#toCount.pop()
      const own = this.#generation[commit] ?? Infinity
      while (isDue(this.#toExplore, this.#known.generation, own)) {
        steps += 1
        if ((steps & breath) === 0) yield pause
        const next = this.#toExplore.pop()
        if (walk.time(next) < walk.course.since) walk.set(next, mark.out)
        while (!walk.meetParents(next)) yield pause
        if (walk.has(next, mark.out)) walk.excludeParents(next)
        this.learnParents(next)
        for (const parent of walk.parents(next)) this.#enter(this.#toExplore, parent, mark.explored)
      }
      for (const parent of walk.parents(commit)) {
        this.read(parent)
        const known = this.children[parent] ?? 0
        this.children[parent] = known === 0 ? 2 : known + 1
        this.#enter(this.#toCount, parent, mark.counted)
        if (walk.course.firstParent) break
      }
    }
  }

  /** Notes which of the parents have been read. */
  learnParents(commit: number): void {
    for (const parent of this.#walk.parents(commit)) if (this.#walk.has(parent, mark.read)) this.read(parent)
  }

  /** Reads a commit, as git does before it asks how deep it lies. */
  read(commit: number): void {
    const { generation, time } = this.#known
    this.#walk.set(commit, mark.read)
    time[commit] = this.#walk.time(commit)
    // Commits outside of the graph's files have none, and keep none.
    if (commit < generation.length) generation[commit] = this.#generation[commit] ?? 0
  }

  #enter(queue: Queue, commit: number, done: number): void {
    if (this.#walk.has(commit, done)) return
    this.#walk.set(commit, done)
    queue.push(commit)
  }
}

function isDue(queue: Queue, generation: Float64Array, lowest: number): boolean {
  const [next] = queue.waiting
  return next !== undefined && (generation[next] ?? Infinity) >= lowest
}
