const free: Uint8Array[] = []
const mostFree = 8
const mostNoted = 20_000

/** A table of zeros for one computation: taking one that was used before spares the collector hundreds of kilobytes. */
export class Scratch {
  readonly #table: Uint8Array
  readonly #written: number[] = []

  /** At least `size` entries. */
  constructor(size: number) {
    const index = free.findIndex((table) => table.length >= size)
    this.#table = index === -1 ? new Uint8Array(size) : (free.splice(index, 1)[0] ?? new Uint8Array(size))
  }

  get(at: number): number {
    return this.#table[at] ?? 0
  }

  set(at: number, value: number): void {
    if (this.#table[at] === 0 && this.#written.length <= mostNoted) this.#written.push(at)
    this.#table[at] = value
  }

  /** Gives the table back; nothing may be asked of it after. */
  release(): void {
    if (this.#written.length > mostNoted) this.#table.fill(0)
    else for (const at of this.#written) this.#table[at] = 0
    if (free.length < mostFree) free.push(this.#table)
  }
}
