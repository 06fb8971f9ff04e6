/** Work that waits for a turn of the event loop of its own. */
const waiting: (() => void)[] = []

/** Runs `work` in a turn of the event loop that it shares with no other such work. */
export function inOwnLoopTurn(work: () => void): void {
  waiting.push(work)
  if (waiting.length === 1) setImmediate(next)
}

function next(): void {
  try {
    waiting[0]?.()
  } finally {
    waiting.shift()
    if (waiting.length > 0) setImmediate(next)
  }
}
