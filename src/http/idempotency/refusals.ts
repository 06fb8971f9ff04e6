import { Problem, badParams, conflict, unprocessable } from '../problems.ts'

export const badKey = (): Problem => badParams(['Idempotency-Key is invalid'])
export const otherRequest = (): Problem => unprocessable('Idempotency-Key was used with another request')
export const underWay = (): Problem =>
  new Problem(
    409,
    { message: '409 Conflict: the first request with this Idempotency-Key is under way' },
    { 'retry-after': '1' },
  )
/** The process that ran the first request died before it kept the answer. */
export const interrupted = (): Problem =>
  conflict(
    '409 Conflict: the first request with this Idempotency-Key was interrupted and may have taken effect; ' +
      'look before trying again with another key',
  )
export const answerTooLarge = (): Problem =>
  conflict(
    '409 Conflict: the first request with this Idempotency-Key took effect, and its answer was too large to keep',
  )
