import { setImmediate as nextTurn } from 'node:timers/promises'

const longestMs = 4

/** A function to await inside long loops: it lets others run once 4 ms have passed since it last did. */
export function breather(): () => Promise<void> {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < longestMs) return
    await nextTurn()
    since = performance.now()
  }
}
