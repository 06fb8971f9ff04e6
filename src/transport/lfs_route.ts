import type { FastifyInstance } from 'fastify'
import { NO_CACHE } from './git_http.ts'

const METHODS = ['GET', 'POST', 'PUT', 'DELETE'] as const

/** Answers clients of Git LFS, which is not served, in the form that they show to people. */
export function refuseLfs(scope: FastifyInstance): void {
  scope.route({
    method: [...METHODS],
    url: '/-/git/:place/info/lfs/*',
    exposeHeadRoute: false,
    config: {
      operations: Object.fromEntries(METHODS.map((method) => [method, 'gitLfs'])),
      ownDeadline: true,
    },
    handler: (request, reply) => {
      // The unread body must not be taken for the next request.
      if (!request.raw.complete) reply.header('connection', 'close')
      return reply
        .code(501)
        .headers({ ...NO_CACHE, 'content-type': 'application/vnd.git-lfs+json' })
        .send(Buffer.from(JSON.stringify({ message: 'This server does not store Git LFS objects.' })))
    },
  })
}
