import { Queue } from './graph_queue.ts'
import { pause, startsOf, type Course } from './graph_walk.ts'

const breath = 255
const few = 200

/** Newest first by commit time, for walks that leave nothing out and follow no path: what most walks are. */
export function* plain(course: Course): Generator<number, void> {
  const { graph, since, until, firstParent } = course
  const { first, second, time } = graph
  const queue = new Queue(time)
  const seen = new Seen(graph.size)
  const meet = (commit: number): void => {
    if (seen.add(commit)) queue.push(commit)
  }
  for (const start of startsOf(course)) meet(start)
  let steps = 0
  for (let commit = queue.pop(); commit !== -1; commit = queue.pop()) {
    steps += 1
    if ((steps & breath) === 0) yield pause
    const own = time[commit] ?? 0
    if (own < since) continue
    const parent = first[commit] ?? -1
    if (parent !== -1) meet(parent)
    if (second[commit] !== -1 && !firstParent) for (const other of graph.parents(commit).slice(1)) meet(other)
    if (own <= until) yield commit
  }
}

/** The commits that a walk has met: a set of its own while they are few, as most walks end on their first page. */
class Seen {
  readonly #size: number
  readonly #few = new Set<number>()
  #all: Uint8Array | undefined

  constructor(size: number) {
    this.#size = size
  }

  /** False when `commit` was there already. */
  add(commit: number): boolean {
    if (this.#all !== undefined) {
      if (this.#all[commit] === 1) return false
      this.#all[commit] = 1
      return true
    }
    if (this.#few.has(commit)) return false
    this.#few.add(commit)
    if (this.#few.size > few) {
      this.#all = new Uint8Array(this.#size)
      for (const one of this.#few) this.#all[one] = 1
      this.#few.clear()
    }
    return true
  }
}
