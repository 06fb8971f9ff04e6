import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AnswerMemory } from './answers/answer_memory.ts'
import { compileAnswer } from './answers/answers.ts'
import type { Surroundings } from './surroundings.ts'
import { contextOf, entryOf, type PathParams } from './entry.ts'
import { parseForm } from './params/forms.ts'
import { onceFor } from './once.ts'
import type { NamedOperation } from './operation.ts'
import type { Inbound } from './inbound_limits.ts'

const placesOf = onceFor((_inbound: Inbound) => ({ taken: 0 }))

/** Route options of an inbound operation: a body limit of its own, and a place for each request until its answer. */
export const inboundRoute = (
  inbound: Inbound,
): { bodyLimit: number; onRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<void> } => ({
  bodyLimit: inbound.limit,
  onRequest: async (_request, reply) => {
    const places = placesOf(inbound)
    if (places.taken >= inbound.atOnce) {
      if (inbound.pause !== undefined) await sleep(inbound.pause)
      throw inbound.busy()
    }
    places.taken += 1
    reply.raw.once('close', () => (places.taken -= 1))
  },
})

const NOBODY = { actor: null, tokenId: null, along: undefined }

/** Makes the handler of an inbound operation: gates, parameters of path and query, and the body as it came. */
export function compileInbound(
  op: NamedOperation,
  { instance, checkAnswers, stallMs }: Surroundings,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  const answer = compileAnswer(op, checkAnswers, stallMs)
  return async (request, reply) => {
    const path = request.params as PathParams
    const query = (request.query as { text: string }).text
    const sent = parseForm(query)
    const { method, headers, ip } = request
    const ctx = contextOf(instance, NOBODY, { method, headers, sent, ip, along: undefined })
    if (Buffer.isBuffer(request.body)) Object.assign(ctx, { bytes: request.body })
    await entryOf(op)(ctx, sent, path)
    return answer(request, reply, await op.handle(ctx as never), {
      ctx,
      query,
      memory: new AnswerMemory(reply.raw),
    })
  }
}
