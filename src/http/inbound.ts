import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AnswerMemory } from './answers/answer_memory.ts'
import { compileAnswer } from './answers/answers.ts'
import type { Surroundings } from './surroundings.ts'
import { contextOf, entryOf, type PathParams } from './entry.ts'
import { parseForm } from './params/forms.ts'
import { memoizeByObject } from './memoize.ts'
import type { NamedOperation } from './operation.ts'
import type { Inbound } from './inbound_limits.ts'

/** Milliseconds that a body keeps its place while it arrives and others are turned away. */
const PATIENCE = 250

interface Place {
  readonly since: number
  /** Refuses the request and closes its connection. False once the body has arrived. */
  readonly giveUp: () => boolean
}

/** In the order in which they were taken. */
const placesOf = memoizeByObject((_inbound: Inbound) => new Set<Place>())

/** Frees the place whose body has been arriving the longest: slow senders do not lock out the others. */
function freeSlowest(places: Set<Place>): boolean {
  const patient = performance.now() - PATIENCE
  for (const place of places) {
    if (place.since > patient) return false
    if (place.giveUp()) return places.delete(place)
  }
  return false
}

/** Route options of an inbound operation: a body limit of its own, and a place for each request until its answer. */
export const inboundRoute = (
  inbound: Inbound,
): { bodyLimit: number; onRequest: (request: FastifyRequest, reply: FastifyReply) => Promise<void> } => ({
  bodyLimit: inbound.limit,
  onRequest: async ({ raw }, reply) => {
    const places = placesOf(inbound)
    if (places.size >= inbound.atOnce && !freeSlowest(places)) {
      if (inbound.pause !== undefined) await sleep(inbound.pause)
      throw inbound.busy()
    }
    const giveUp = (): boolean => {
      // The reader of the body listens while it reads. Its failure is answered with the error that it is given.
      if (raw.readableEnded || raw.listenerCount('error') === 0) return false
      reply.header('connection', 'close')
      return raw.emit('error', inbound.busy())
    }
    const place = { since: performance.now(), giveUp }
    places.add(place)
    reply.raw.once('close', () => places.delete(place))
  },
})

const NOBODY = { actor: null, tokenId: null, preloaded: undefined }

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
    const ctx = contextOf(instance, NOBODY, { method, headers, sent, ip, preload: undefined })
    if (Buffer.isBuffer(request.body)) Object.assign(ctx, { bytes: request.body })
    await entryOf(op)(ctx, sent, path)
    return answer(request, reply, await op.handle(ctx as never), {
      ctx,
      query,
      memory: new AnswerMemory(reply.raw),
    })
  }
}
