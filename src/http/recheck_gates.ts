import { isAway } from '../db/errors.ts'
import { Redirect } from './redirect.ts'
import { Problem } from './problems.ts'

/**
 * What a handler leans on may go away under it, and it fails in as many ways as it does things. The gates know: how they
 * refuse the caller now, if they do. A database that is away is not asked again.
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
