import { isAway } from '../db/errors.ts'
import { Redirect } from './redirect.ts'
import { Problem } from './problems.ts'

/**
 * A record may be deleted under a handler, which then fails in many ways. The gates answer how the caller is refused
 * now, if at all. A database that is unavailable is not asked again.
 */
export async function recheckGates(
  error: unknown,
  enter: () => Promise<unknown>,
): Promise<Problem | undefined> {
  if (error instanceof Problem || error instanceof Redirect || isAway(error)) return undefined
  try {
    await enter()
  } catch (refusal) {
    if (refusal instanceof Problem) return refusal
  }
  return undefined
}
