import 'fastify'
import type { Actor } from '../gate.ts'
import type { Inbound } from '../inbound_limits.ts'

// The properties that the kernel adds to requests and routes.

declare module 'fastify' {
  interface FastifyRequest {
    actor: Actor | null
  }
  interface FastifyContextConfig {
    /** The names of the operations that a route serves, by method: for logs and metrics. */
    readonly operations?: Readonly<Record<string, string>>
    /** Set on routes whose bodies may take longer than others, and which see to it themselves that they do not stall. */
    readonly ownDeadline?: boolean
    /** Set on routes that take the body as bytes of any media type. */
    readonly inbound?: Inbound
    /** The `WWW-Authenticate` of a 401. */
    readonly challenge?: string
  }
}
