import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { removeManager, removeRunner } from '../ci/runners/runners.ts'
import { badParams } from '../http/problems.ts'
import { authorizeArtifact, downloadArtifact, uploadArtifact } from './artifact_routes.ts'
import { answerJson, enterRunner, sentBy, textIn, type Around } from './access.ts'
import { requestJob } from './job_request.ts'
import { appendTrace, updateJob } from './trace_routes.ts'

const MB = 1024 * 1024
type Handler = (around: Around, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>
type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * Mounts what runners call, below `/api/v4`. They bear tokens of their own and not a user's, wait for long and send bytes:
 * these are routes beside the operations.
 */
export function mountCoordinator(app: FastifyInstance, around: Around): void {
  void app.register(async (scope) => {
    const route = (method: Method, path: string, name: string, handler: Handler): void =>
      void scope.route({
        method,
        url: `/api/v4${path}`,
        config: { operations: { [method]: name } },
        handler: (request, reply) => handler(around, request, reply),
      })
    route('POST', '/runners/verify', 'verifyRunner', verifyRunner)
    route('DELETE', '/runners', 'unregisterRunner', unregisterRunner)
    route('DELETE', '/runners/managers', 'unregisterRunnerManager', unregisterManager)
    route('POST', '/jobs/request', 'requestJob', requestJob)
    route('PUT', '/jobs/:job_id', 'updateJob', updateJob)
    route('POST', '/jobs/:job_id/artifacts/authorize', 'authorizeArtifact', authorizeArtifact)
    route('GET', '/jobs/:job_id/artifacts', 'downloadArtifact', downloadArtifact)
  })
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    // The body is read as it comes.
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.route({
      method: 'POST',
      url: '/api/v4/jobs/:job_id/artifacts',
      config: { operations: { POST: 'uploadArtifact' }, ownDeadline: true },
      handler: (request, reply) => uploadArtifact(around, request, reply),
    })
  })
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: 8 * MB },
      async (_request: unknown, bytes: Buffer) => bytes,
    )
    scope.route({
      method: 'PATCH',
      url: '/api/v4/jobs/:job_id/trace',
      bodyLimit: 8 * MB,
      config: { operations: { PATCH: 'appendTrace' } },
      handler: (request, reply) => appendTrace(around, request, reply),
    })
  })
}

const verifyRunner: Handler = async (around, request, reply) => {
  const { runner } = await enterRunner(around, request, reply)
  return answerJson(reply, 200, {
    id: runner.id,
    token: textIn(sentBy(request), 'token'),
    token_expires_at: null,
  })
}

const unregisterRunner: Handler = async (around, request, reply) => {
  const { runner } = await enterRunner(around, request, reply)
  await removeRunner(around.instance.db, runner.id)
  return reply.code(204).send()
}

const unregisterManager: Handler = async (around, request, reply) => {
  const { runner } = await enterRunner(around, request, reply)
  const systemId = textIn(sentBy(request), 'system_id')
  if (systemId === undefined) throw badParams(['system_id is missing'])
  await removeManager(around.instance.db, runner.id, systemId)
  return reply.code(204).send()
}
