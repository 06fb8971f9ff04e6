import type { FastifyError, FastifyRequest } from 'fastify'
import { isBusy, isGone, isLate } from '../../db/errors.ts'
import {
  Problem,
  badBody,
  bodyTooLarge,
  conflict,
  internalError,
  noSuchRecord,
  objectTooLarge,
  storageFull,
  unavailable,
} from '../problems.ts'

/** Classifies errors of the database and of git; the kernel does not know git. */
export interface Faults {
  /** Whether an error says that something the server leans on did not get to answer: a 503 then. */
  readonly isAway: (error: unknown) => boolean
  /** Whether an error says that a disk is full: a 507 then. */
  readonly isDiskFull?: (error: unknown) => boolean
}

/** The Problem that a thrown error is answered with. */
export function problemOf(
  error: FastifyError,
  request: FastifyRequest,
  { isAway, isDiskFull = () => false }: Faults,
): Problem {
  if (error instanceof Problem) return error
  const warned = (problem: Problem, text: string): Problem => {
    request.log.warn({ err: error }, text)
    return problem
  }
  // The caller went away while sending the body: nobody hears the answer, and the database has no part in it.
  if (error === request.raw.errored) return badBody()
  if (isDiskFull(error)) return warned(storageFull(), 'a disk is full')
  if (isLate(error)) return warned(unavailable(), 'the database took too long')
  if (isAway(error)) return warned(unavailable(), 'what this operation leans on is away')
  // Git says so where no place came free in time.
  if ('fault' in error && error.fault === 'busy') return unavailable()
  if ('fault' in error && error.fault === 'too_large')
    return warned(objectTooLarge(), 'git holds more than one answer may take')
  if (isGone(error) && request.method !== 'DELETE')
    return warned(noSuchRecord(), 'what this operation names went away')
  // A record to be deleted may have got new children meanwhile.
  if (isBusy(error) || isGone(error)) return conflict('409 Conflict: Resource lock')
  if (error.code === 'FST_ERR_CTP_BODY_TOO_LARGE')
    return request.routeOptions.config.inbound?.tooLarge() ?? bodyTooLarge()
  if (typeof error.code === 'string' && error.code.startsWith('FST_') && (error.statusCode ?? 500) < 500)
    return badBody()
  request.log.error({ err: error }, 'an operation failed')
  return internalError()
}
