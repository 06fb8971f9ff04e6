import type { Problem } from './problems.ts'

/** How operations take what programs send. Those that share one value share its places. */
export interface Inbound {
  /** Bytes of a body. */
  readonly limit: number
  /** Requests that are worked on at once; each may hold `limit` bytes. */
  readonly atOnce: number
  readonly tooLarge: () => Problem
  /** The refusal while all places are taken, uttered before the body is read. */
  readonly busy: () => Problem
  /** Milliseconds until that refusal is answered: a sender that repeats at once then costs next to nothing. */
  readonly pause?: number
}
