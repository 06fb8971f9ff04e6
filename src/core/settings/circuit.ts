import { LRUCache } from 'lru-cache'

export interface CircuitLimits {
  /** Failures in a row that open a circuit. */
  readonly failures: number
  /** Milliseconds that an open circuit refuses calls, before one call may probe. */
  readonly open_ms: number
}

/** Thrown instead of a call that an open circuit refuses. */
export class CircuitOpen extends Error {}

export interface Circuit {
  /**
   * Runs `work`, unless the circuit of `key` is open: then throws CircuitOpen. Errors that `counts` names open it; any
   * other outcome closes it.
   */
  readonly run: <T>(key: string, work: () => Promise<T>, counts: (error: unknown) => boolean) => Promise<T>
}

interface State {
  failures: number
  open_until: number
}

const MAX_KEYS = 100

/** A circuit breaker per key: a server that fails again and again is not asked for a while. */
export function createCircuit(limits: CircuitLimits, now: () => number = Date.now): Circuit {
  const states = new LRUCache<string, State>({ max: MAX_KEYS })
  return {
    run: async (key, work, counts) => {
      const state = states.get(key) ?? { failures: 0, open_until: 0 }
      states.set(key, state)
      if (state.failures >= limits.failures) {
        if (now() < state.open_until) throw new CircuitOpen(`the circuit of ${key} is open`)
        // One call probes; the others are refused until it ends or its time is up.
        state.open_until = now() + limits.open_ms
      }
      try {
        const result = await work()
        state.failures = 0
        return result
      } catch (error) {
        state.failures = counts(error) ? state.failures + 1 : 0
        if (state.failures >= limits.failures) state.open_until = now() + limits.open_ms
        throw error
      }
    },
  }
}
