import { setImmediate } from 'node:timers/promises'

const SLICE_MS = 8

/** Lets the event loop run when the current slice of work took long enough. Call it between small steps. */
export function createYield(): () => Promise<void> | undefined {
  let since = performance.now()
  const rest = async (): Promise<void> => {
    await setImmediate()
    since = performance.now()
  }
  return () => (performance.now() - since < SLICE_MS ? undefined : rest())
}
