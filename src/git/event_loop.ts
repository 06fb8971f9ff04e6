const sliceMs = 4

/** When the slice of this turn of the event loop is used up; 0 while nobody has begun one. */
let end = 0
const waiting: (() => void)[] = []

function begin(): number {
  if (end === 0) {
    end = performance.now() + sliceMs
    setImmediate(next)
  }
  return end
}

/** One of those who wait goes on in each turn: all of them in one would hold the loop for as many slices. */
function next(): void {
  end = 0
  const resume = waiting.shift()
  if (resume === undefined) return
  begin()
  resume()
}

/** Divides long work on memory: all of it together takes about 4 ms of each turn of the event loop. */
export class Slice {
  /** True once the slice is used up; then `rest` is to be awaited. Dear enough to be asked only every hundred steps. */
  isOver(): boolean {
    return performance.now() > begin()
  }

  /** Lets everything else that waits run, and goes on in a slice of its own. */
  async rest(): Promise<void> {
    begin()
    await new Promise<void>((resolve) => waiting.push(resolve))
  }
}

/** A function to await inside long loops of cheap steps: it lets others run once the slice is used up. */
export function createYield(): () => Promise<void> {
  const slice = new Slice()
  return async () => {
    if (slice.isOver()) await slice.rest()
  }
}
