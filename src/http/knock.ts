import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Surroundings } from './dispatch.ts'
import { compileAlong, compileGates, contextOf, walk, type PathParams, type Visitor } from './entry.ts'
import { parseForm } from './forms.ts'
import type { NamedOperation } from './operation.ts'
import { Problem, unauthorized } from './problems.ts'

/**
 * What a caller passes before a large body is read: all that comes before the parameters, and being somebody. Who does
 * not pass is counted here; all others are when their body is there.
 */
export function compileKnock(
  op: NamedOperation,
  { instance, signIn, admit }: Surroundings,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const alongOf = compileAlong(op)
  const first = compileGates(op.first ?? [])
  return async ({ params, query, method, headers, ip }, reply) => {
    const path = params as PathParams
    const sent = parseForm((query as { text: string }).text)
    const visit = { method, headers, sent, ip, along: alongOf(path), scopes: op.scopes ?? [] }
    let visitor: Visitor | undefined
    try {
      visitor = await signIn(visit)
      if (visitor.actor === null) throw unauthorized()
      await walk(first, contextOf(instance, visitor, visit), path)
    } catch (refusal) {
      if (refusal instanceof Problem) reply.headers(await admit(visitor?.owner ?? visitor?.actor ?? null, ip))
      throw refusal
    }
  }
}
