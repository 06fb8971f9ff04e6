/** Numbers of commits by position, such as their times; what lies beyond the end counts as Infinity. */
export type Keys = ArrayLike<number>

/**
 * Positions in descending order of a key, then of a second one; equal ones leave in the order in which they came. That
 * is how git orders commits, and histories with equal times come out right only if it is kept to the letter.
 */
export class Queue {
  readonly #keys: Keys
  readonly #seconds: Keys | undefined
  #positions: number[] = []
  #turns: number[] = []
  #turn = 0

  constructor(keys: Keys, seconds?: Keys) {
    this.#keys = keys
    this.#seconds = seconds
  }

  /** The heap of the queue; only the first is in its place. */
  get waiting(): readonly number[] {
    return this.#positions
  }

  push(position: number): void {
    let at = this.#positions.length
    const turn = this.#turn
    this.#turn += 1
    while (at > 0) {
      const above = (at - 1) >> 1
      const other = this.#positions[above] ?? 0
      if (!this.#goesBefore(position, turn, other, this.#turns[above] ?? 0)) break
      this.#positions[at] = other
      this.#turns[at] = this.#turns[above] ?? 0
      at = above
    }
    this.#positions[at] = position
    this.#turns[at] = turn
  }

  /** Takes the first; -1 when the queue is empty. */
  pop(): number {
    const first = this.#positions[0]
    if (first === undefined) return -1
    const position = this.#positions.pop() ?? 0
    const turn = this.#turns.pop() ?? 0
    const size = this.#positions.length
    if (size === 0) return first
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= size) break
      if (below + 1 < size && this.#isBefore(below + 1, below)) below += 1
      if (!this.#goesBefore(this.#positions[below] ?? 0, this.#turns[below] ?? 0, position, turn)) break
      this.#positions[at] = this.#positions[below] ?? 0
      this.#turns[at] = this.#turns[below] ?? 0
      at = below
    }
    this.#positions[at] = position
    this.#turns[at] = turn
    return first
  }

  #isBefore(a: number, b: number): boolean {
    const ones = this.#positions
    const turns = this.#turns
    return this.#goesBefore(ones[a] ?? 0, turns[a] ?? 0, ones[b] ?? 0, turns[b] ?? 0)
  }

  #goesBefore(a: number, turnA: number, b: number, turnB: number): boolean {
    const one = this.#keys[a] ?? Infinity
    const two = this.#keys[b] ?? Infinity
    if (one !== two) return one > two
    if (this.#seconds !== undefined) {
      const three = this.#seconds[a] ?? 0
      const four = this.#seconds[b] ?? 0
      if (three !== four) return three > four
    }
    return turnA < turnB
  }
}
