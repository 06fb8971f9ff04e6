import type { FastifyRequest } from 'fastify'
import type { KeptAnswer } from '../answers/kept_answer.ts'
import type { Visit, Visitor } from '../entry.ts'
import type { NamedOperation } from '../operation.ts'
import type { Instance } from '../../instance.ts'
import { Attempt } from './attempt.ts'
import { fingerprintOf } from './fingerprint.ts'
import { badKey } from './refusals.ts'

/** Printable ASCII, as the specification of the header has it. */
const KEY = /^[\x20-\x7e]{1,255}$/

interface Asking {
  readonly request: FastifyRequest
  readonly visit: Visit
  readonly visitor: Visitor
}

/** Makes the function that reads the `Idempotency-Key` of a write; undefined without one. */
export function compileAttempt(
  op: NamedOperation,
  instance: Instance,
  render: (result: unknown) => KeptAnswer | undefined,
): (asking: Asking) => Promise<Attempt | undefined> {
  return async ({ request, visit, visitor }) => {
    const key = visit.headers['idempotency-key']
    if (key === undefined || op.method === 'GET') return undefined
    if (typeof key !== 'string' || !KEY.test(key)) throw badKey()
    const [address = ''] = request.url.split('?', 1)
    const { actor, owner, jobId, deployTokenId } = visitor
    const fingerprint = await fingerprintOf(visit, address, String(actor?.id))
    // Callers without a user, such as those with a trigger token, have a key for each request: its parameters identify them.
    const user = owner ?? actor
    const caller =
      jobId !== undefined
        ? `job ${jobId}`
        : deployTokenId !== undefined
          ? `deploy token ${deployTokenId}`
          : user
            ? `user ${user.id}`
            : `request ${fingerprint.toString('hex')}`
    return new Attempt({ instance, op, id: { caller, key }, fingerprint, render })
  }
}
