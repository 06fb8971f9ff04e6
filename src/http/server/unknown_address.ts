import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Allowed } from './allowed.ts'
import { methodNotAllowed, noRoute, oldVersion, type Problem } from '../problems.ts'

/** Refuses unknown addresses and methods before the body is read, so that its type or size is never the fault named. */
export function addUnknownAddresses(app: FastifyInstance, allowed?: Allowed): void {
  app.addHook('onRequest', (request, _reply, done) =>
    done(request.is404 ? problemOf(request, allowed) : undefined),
  )
  // The framework runs the hooks of an unknown address only where a handler of it is set.
  app.setNotFoundHandler(() => {
    throw noRoute()
  })
}

const METHODS: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Nothing is served there, or nothing by that method. */
function problemOf({ url, method }: FastifyRequest, allowed?: Allowed): Problem {
  const allow = METHODS.has(method) ? allowed?.(url.split('?', 1)[0] ?? '') : undefined
  if (allow !== undefined && !allow.split(', ').includes(method)) return methodNotAllowed(allow)
  return url.startsWith('/api/v3') ? oldVersion() : noRoute()
}
