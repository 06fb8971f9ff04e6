import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { Settings } from '../core/settings/settings.ts'
import type { Actor } from '../http/gate.ts'
import { tooManyRequests } from '../http/problems.ts'

type Kind = 'authenticated' | 'unauthenticated'

/**
 * Makes the function that counts a request against its caller's allowance: a user's, or without one an address's.
 * Returns the published headers, none while the throttle is off. Throws the published Problem past the allowance.
 */
export function createLimiter(
  settings: Settings,
): (actor: Actor | null, ip: string) => Promise<Record<string, string>> {
  const buckets = new Map<string, RateLimiterMemory>()
  const bucket = (kind: Kind, points: number, duration: number): RateLimiterMemory => {
    const key = `${kind} ${points} ${duration}`
    const known = buckets.get(key) ?? new RateLimiterMemory({ keyPrefix: key, points, duration })
    buckets.set(key, known)
    return known
  }
  return async (actor, ip) => {
    const kind = actor === null ? 'unauthenticated' : 'authenticated'
    if (!settings.get(`throttle_${kind}_api_enabled`)) return {}
    const points = settings.get(`throttle_${kind}_api_requests_per_period`)
    const duration = settings.get(`throttle_${kind}_api_period_in_seconds`)
    try {
      const state = await bucket(kind, points, duration).consume(actor === null ? ip : actor.id)
      return headers(points, state)
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal
      const seconds = Math.max(1, Math.ceil(refusal.msBeforeNext / 1000))
      throw tooManyRequests({ ...headers(points, refusal), 'retry-after': String(seconds) })
    }
  }
}

/** `RateLimit-Reset` is a moment in Unix seconds here, as clients of this interface expect. */
const headers = (points: number, state: RateLimiterRes): Record<string, string> => ({
  'ratelimit-limit': String(points),
  'ratelimit-observed': String(state.consumedPoints),
  'ratelimit-remaining': String(state.remainingPoints),
  'ratelimit-reset': String(Math.ceil((Date.now() + state.msBeforeNext) / 1000)),
})
