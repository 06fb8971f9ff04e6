const sliceMs = 4

/** Divides long work on memory into slices of about 4 ms, so that the event loop is never held for longer. */
export class Slice {
  #end = performance.now() + sliceMs

  /** True once the slice is used up; then `rest` is to be awaited. Dear enough to be asked only every hundred steps. */
  isOver(): boolean {
    return performance.now() > this.#end
  }

  /** Lets everything else that waits run, and begins a new slice. */
  async rest(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve))
    this.#end = performance.now() + sliceMs
  }
}
