/** Bounds how much is done at once. */
export interface Capacity {
  /** Runs `work` when a place is free, in the order of the calls. */
  run<Result>(work: () => Promise<Result>): Promise<Result>
}

/** Makes a Capacity with that many places; whoever calls bounds how many wait. */
export function createCapacity(places: number): Capacity {
  const waiting: (() => void)[] = []
  let taken = 0
  return {
    run: async (work) => {
      if (taken < places) taken += 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        const next = waiting.shift()
        // The place goes to the next in line, so that nothing that arrives now takes it first.
        if (next === undefined) taken -= 1
        else next()
      }
    },
  }
}
