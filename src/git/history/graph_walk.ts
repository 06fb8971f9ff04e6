import type { Graph } from './graph.ts'
import { Queue } from './graph_queue.ts'

/** Which commits a walk visits and shows; positions as of `graph`. */
export interface Course {
  readonly graph: Graph
  /** Where it starts, in the order in which git is told them. */
  readonly tips: readonly number[]
  /** Commits left out with all their ancestors. */
  readonly exclude: readonly number[]
  /** Unix seconds, inclusive; Infinity of either sign for none. */
  readonly since: number
  readonly until: number
  readonly firstParent: boolean
  /** Present when only changes of a path are shown. */
  readonly simplifier: Simplifier | undefined
}

/** Simplifies history to what concerns a path. */
export interface Simplifier {
  /**
   * Decides about one commit: marks it `same` when it changed nothing, and cuts its parents down to one that has the
   * same content. False when that needs trees that have yet to be fetched; then it did nothing.
   */
  simplify(walk: Walk, commit: number): boolean
  /**
   * Goes on from `commit` past what the path's filters leave alone, as `simplify` would, until a commit that has to be
   * looked at: that one is returned, or -1 when the line leads to where this walk has been. Only for walks with nothing
   * else in hand.
   */
  skip(walk: Walk, commit: number): number
  /** Fetches what `simplify` last lacked. Throws GitError. */
  fetch(): Promise<void>
}

/** Marks on commits during one walk. Their names are git's ideas: `out` is "uninteresting", `same` is "treesame". */
export const mark = {
  seen: 1,
  added: 2,
  out: 4,
  bottom: 8,
  same: 16,
  read: 32,
  explored: 64,
  counted: 128,
  /** Of its parents only the first is left. */
  line: 256,
} as const

/** Yielded instead of a commit: time to breathe, and to fetch what a simplifier lacks. */
export const pause = -1

const breath = 255
const slopAtFirst = 5

/** The state of one walk. The rules, odd ones included, are those of git's revision walk: equal lists depend on each. */
export class Walk {
  readonly course: Course
  readonly marks: Uint16Array
  readonly #cut = new Map<number, number>()

  constructor(course: Course) {
    this.course = course
    this.marks = new Uint16Array(course.graph.size)
    for (const tip of course.tips) this.set(tip, mark.read)
    for (const commit of course.exclude) this.set(commit, mark.read | mark.out | mark.bottom)
    for (const commit of course.exclude) this.excludeParents(commit)
  }

  /** About how many bytes it holds on to. */
  get bytes(): number {
    return 2 * this.marks.length + 100 * this.#cut.size
  }

  has(commit: number, marks: number): boolean {
    return ((this.marks[commit] ?? 0) & marks) !== 0
  }

  set(commit: number, marks: number): void {
    this.marks[commit] = (this.marks[commit] ?? 0) | marks
  }

  /** The parents as simplified so far. */
  parents(commit: number): number[] {
    const { graph } = this.course
    if (this.has(commit, mark.line)) return [graph.first[commit] ?? -1]
    const only = this.#cut.get(commit)
    return only === undefined ? graph.parents(commit) : [only]
  }

  /** Leaves a merge only one of its parents. */
  cutTo(commit: number, parent: number): void {
    if (parent === this.course.graph.first[commit]) this.set(commit, mark.line)
    else this.#cut.set(commit, parent)
  }

  /** All starting points in the order of `startsOf`. */
  starts(): number[] {
    const starts = startsOf(this.course)
    for (const start of starts) this.set(start, mark.seen)
    return starts
  }

  /** Simplifies a commit and meets its parents, once; false when trees have to be fetched first. */
  meetParents(commit: number, queue?: Queue): boolean {
    if (this.has(commit, mark.added)) return true
    const { simplifier, firstParent } = this.course
    const isOut = this.has(commit, mark.out)
    if (!isOut && simplifier?.simplify(this, commit) === false) return false
    this.set(commit, mark.added)
    // Histories are mostly straight lines: then there is nothing to go through.
    const { first, second } = this.course.graph
    if (!isOut && (second[commit] === -1 || firstParent || this.has(commit, mark.line))) {
      const parent = first[commit] ?? -1
      if (parent !== -1) this.#meet(parent, mark.read, queue)
      return true
    }
    for (const parent of this.parents(commit)) {
      if (isOut) this.set(parent, mark.out | mark.read)
      if (isOut) this.excludeParents(parent)
      this.#meet(parent, mark.read, queue)
    }
    return true
  }

  #meet(parent: number, marks: number, queue: Queue | undefined): void {
    const known = this.marks[parent] ?? 0
    this.marks[parent] = known | marks | mark.seen
    if ((known & mark.seen) === 0) queue?.push(parent)
  }

  /** Leaves out the parents, and their ancestors as far as this walk has read them. */
  excludeParents(commit: number): void {
    const pending = this.parents(commit)
    for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
      if (this.has(next, mark.out)) continue
      this.set(next, mark.out)
      if (this.has(next, mark.read)) pending.push(...this.parents(next))
    }
  }

  shows(commit: number): boolean {
    return !this.has(commit, mark.out | mark.same) && this.time(commit) <= this.course.until
  }

  time(commit: number): number {
    return this.course.graph.time[commit] ?? 0
  }
}

/** All starting points, newest first, each once, those that came earlier first among equals. */
export function startsOf({ graph, tips, exclude }: Course): number[] {
  return [...new Set([...tips, ...exclude])].sort((a, b) => (graph.time[b] ?? 0) - (graph.time[a] ?? 0))
}

/** Newest first by commit time, where something is left out or a path is followed. */
export function newestFirst(walk: Walk): Generator<number, void> {
  const { exclude, simplifier } = walk.course
  return exclude.length > 0 || simplifier === undefined ? limited(walk) : simplified(walk, simplifier)
}

function* simplified(walk: Walk, simplifier: Simplifier): Generator<number, void> {
  const { graph, since } = walk.course
  const queue = new Queue(graph.time)
  for (const start of walk.starts()) queue.push(start)
  let steps = 0
  for (let commit = queue.pop(); commit !== -1; commit = queue.pop()) {
    steps += 1
    if ((steps & breath) === 0) yield pause
    let next = commit
    while (next !== -1 && queue.waiting.length === 0) {
      const reached = simplifier.skip(walk, next)
      if (reached === next) break
      next = reached
      yield pause
    }
    if (next === -1 || walk.time(next) < since) continue
    while (!walk.meetParents(next, queue)) yield pause
    if (walk.shows(next)) yield next
  }
}

/**
 * With commits left out, git collects the whole list first and goes on for some commits after all that waits is left
 * out; with clocks that ran wrong it can stop too early, and then so does this.
 */
function* limited(walk: Walk): Generator<number, void> {
  const { graph, since, until } = walk.course
  const queue = new Queue(graph.time)
  for (const start of walk.starts()) queue.push(start)
  const list: number[] = []
  let slop = slopAtFirst
  let last = Infinity
  let steps = 0
  let wanted = -1
  for (let commit = queue.pop(); commit !== -1; commit = queue.pop()) {
    steps += 1
    if ((steps & breath) === 0) yield pause
    if (commit === wanted) wanted = -1
    if (walk.time(commit) < since) walk.set(commit, mark.out)
    while (!walk.meetParents(commit, queue)) yield pause
    if (walk.has(commit, mark.out)) {
      walk.excludeParents(commit)
      const [next] = queue.waiting
      if (next === undefined) break
      const isBehind = last > walk.time(next)
      if (isBehind && (wanted === -1 || walk.has(wanted, mark.out))) {
        wanted = queue.waiting.find((other) => !walk.has(other, mark.out)) ?? -1
      }
      slop = isBehind && wanted === -1 ? slop - 1 : slopAtFirst
      if (slop === 0) break
    } else if (walk.time(commit) <= until) {
      last = walk.time(commit)
      list.push(commit)
    }
  }
  for (const [index, commit] of list.entries()) {
    if ((index & breath) === breath) yield pause
    if (walk.shows(commit)) yield commit
  }
}
