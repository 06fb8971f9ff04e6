import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Surroundings } from '../surroundings.ts'
import {
  compilePreload,
  compileGates,
  contextOf,
  walk,
  type PathParams,
  type Visit,
  type Visitor,
} from '../entry.ts'
import { parseForm } from './forms.ts'
import type { NamedOperation } from '../operation.ts'
import { Problem, unauthorized } from '../problems.ts'

interface Asked {
  readonly path: PathParams
  /** As text. */
  readonly query: string
  readonly visit: Visit
}

/** Makes the function that reads who asks an operation for what. */
export function compileVisit(op: NamedOperation): (request: FastifyRequest) => Asked {
  const alongOf = compilePreload(op)
  const open = {
    scopes: op.scopes ?? [],
    basic: op.challenge !== undefined,
    jobTokens: op.jobTokens === true,
    deployTokens: op.deployTokens === true,
    ownToken: op.ownToken === true,
  }
  return ({ params, query: asked, body, method, headers, ip }) => {
    const path = params as PathParams
    const query = (asked as { text: string }).text
    const sent = Object.assign(parseForm(query), body)
    return { path, query, visit: { method, headers, sent, ip, preload: alongOf(path), ...open } }
  }
}

/**
 * The checks before a large body is read: all that come before the parameters, and a signed-in caller. Rate-limits
 * refused callers here; admitted ones after the body is read.
 */
export function compileEarlyAuthorization(
  op: NamedOperation,
  { instance, signIn, admit }: Surroundings,
): (request: FastifyRequest, reply: FastifyReply) => Promise<void> {
  const visitOf = compileVisit(op)
  const first = compileGates(op.first ?? [])
  return async (request, reply) => {
    const { path, visit } = visitOf(request)
    let visitor: Visitor | undefined
    try {
      visitor = await signIn(visit)
      if (visitor.actor === null && visitor.deployTokenId === undefined) throw unauthorized()
      await walk(first, contextOf(instance, visitor, visit), path)
    } catch (refusal) {
      if (refusal instanceof Problem)
        reply.headers(await admit(visitor?.owner ?? visitor?.actor ?? null, visit.ip))
      throw refusal
    }
  }
}
