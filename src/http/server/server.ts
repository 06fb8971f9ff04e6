import { randomUUID } from 'node:crypto'
import { STATUS_CODES, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import fastify, {
  LogController,
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
} from 'fastify'
import { gitAddress } from './addresses.ts'
import type { Allowed } from './allowed.ts'
import { readBody } from '../params/body.ts'
import { addCrossOrigin } from './cross_origin.ts'
import { problemOf, type Faults } from './fault.ts'
import { Redirect, sendMoved } from '../redirect.ts'
import { problemDetails, wantsDetails } from './problem_details.ts'
import {
  type Problem,
  badRequest,
  badUrl,
  hasNoBody,
  headersTooLarge,
  requestTimeout,
  unsupportedEncoding,
  urlTooLong,
} from '../problems.ts'
import { addUnknownAddresses } from './unknown_address.ts'

export interface ServerOptions extends Faults {
  readonly logger: FastifyBaseLogger
  /** The methods that an address has, for requests that nothing serves. */
  readonly allowed?: Allowed
  /** Brings an address to the form in which it is routed. */
  readonly rewrite?: (url: string, asked: Pick<IncomingMessage, 'method' | 'headers'>) => string
  /** The proxies whose `X-Forwarded-For` is believed: addresses and ranges. */
  readonly trustProxy?: readonly string[]
  /** Bytes of a request body. */
  readonly bodyLimit?: number
  /** Milliseconds a client may take to send its headers, and the whole request. */
  readonly headersTimeout?: number
  readonly requestTimeout?: number
  /** Called once for each answer, with its duration in milliseconds. */
  readonly onAnswer?: (operation: string, method: string, status: number, duration: number) => void
}

const MB = 1024 * 1024

/** An HTTP server with everything that holds for all routes: limits, error shapes, headers, one log line each. */
export function createServer(options: ServerOptions): FastifyInstance {
  const { rewrite = gitAddress } = options
  const app = fastify({
    loggerInstance: options.logger,
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    trustProxy: options.trustProxy?.length ? [...options.trustProxy] : false,
    bodyLimit: options.bodyLimit ?? MB,
    // Ours begins when the headers are there, and knows what route it is: see addDeadline.
    requestTimeout: 0,
    http: { headersTimeout: options.headersTimeout ?? 15_000, connectionsCheckingInterval: 1_000 },
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // A request may name a server before its path. What it names is not this server's address, and may hold a password.
    rewriteUrl: ({ url = '/', method, headers }) =>
      rewrite(url.replace(/^\w+:\/\/[^/?#]*\/?/, '/'), { method, headers }),
    // These come before the hooks, so the headers of every answer are added here.
    frameworkErrors: ({ code }, request, reply) =>
      void refuse(
        request,
        (reply as FastifyReply).headers(standingHeaders(request)),
        code === 'FST_ERR_MAX_PARAM_LENGTH' ? urlTooLong() : badUrl(),
      ),
    clientErrorHandler: answerBrokenRequest,
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: 4_096,
      // Read where it is needed, by our own reader, which knows what the operation declares.
      querystringParser: (text) => ({ text }),
    },
  })
  app.decorateRequest('actor', null)
  app.decorateRequest('longTexts', undefined)
  takeBodies(app)
  addHeaders(app)
  addDeadline(app, options.requestTimeout ?? 60_000)
  addLog(app, options.onAnswer)
  addCrossOrigin(app)
  addUnknownAddresses(app, options.allowed)
  addClosing(app)
  app.setErrorHandler(async (error: FastifyError | Redirect, request, reply) =>
    error instanceof Redirect
      ? sendMoved(request, reply, error)
      : refuse(request, reply, problemOf(error, request, options)),
  )
  return app
}

// The hooks of every request call back: each would be a promise to wait for.
function addHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    // One that says nothing is as good as none.
    if (request.raw.headers['content-type']?.trim() === '') delete request.raw.headers['content-type']
    reply.headers(standingHeaders(request))
    done(hasOneHost(request) ? undefined : badRequest())
  })
}

/** A proxy may have judged the request by the other one. */
const hasOneHost = ({ raw }: FastifyRequest): boolean =>
  raw.rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length <= 1

/** A body must have arrived some time after its headers. */
function addDeadline(app: FastifyInstance, milliseconds: number): void {
  app.addHook('onRequest', ({ raw, headers, routeOptions }, reply, done) => {
    const hasBody = headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0'
    if (hasBody && routeOptions.config?.ownDeadline !== true) {
      const late = Object.assign(new Error('a body is late'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' })
      const giveUp = (): void =>
        reply.raw.headersSent ? void raw.destroy() : answerBrokenRequest(late, raw.socket)
      const clock = setTimeout(giveUp, milliseconds).unref()
      const stop = (): void => clearTimeout(clock)
      // Not with the answer: after a refusal the rest of the body is still read, and dropped.
      raw.once('end', stop)
      raw.once('close', stop)
    }
    done()
  })
}

const standingHeaders = ({ id }: FastifyRequest): Record<string, string> => ({
  'x-request-id': id,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  vary: 'Origin',
  // A proxy's cache knows nothing of our token headers: what it keeps it must ask about again.
  'cache-control': 'max-age=0, private, must-revalidate',
})

function addLog(app: FastifyInstance, onAnswer: ServerOptions['onAnswer']): void {
  app.addHook('onResponse', (request, reply, done) => {
    const operation = request.routeOptions.config?.operations?.[request.method] ?? 'none'
    const ms = Math.round(reply.elapsedTime * 1000) / 1000
    onAnswer?.(operation, request.method, reply.statusCode, ms)
    const path = loggedPath(request)
    const user = request.actor?.id
    request.log.info({
      operation,
      method: request.method,
      path,
      status: reply.statusCode,
      ms,
      user,
      ip: request.ip,
    })
    done()
  })
}

/** The path without mail addresses: logs outlive what they name. */
function loggedPath({ raw, routeOptions }: FastifyRequest): string {
  const path = (raw.url ?? '').split('?', 1)[0] ?? ''
  const known = routeOptions.url?.endsWith('/:email') === true ? path.replace(/[^/]+\/?$/, '***') : path
  return known.replaceAll(/[^/]*(?:@|%40)[^/]*/gi, '***')
}

/** The framework ends the connections that are idle when it begins to close; those under way end with their answers. */
function addClosing(app: FastifyInstance): void {
  let closing = false
  app.addHook('preClose', async () => void (closing = true))
  // A connection is idle a moment after its answer is out.
  app.addHook('onResponse', (_request, _reply, done) => {
    if (closing) setImmediate(() => app.server.closeIdleConnections())
    done()
  })
}

function takeBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, async (request: FastifyRequest, bytes: Buffer) => {
    if (request.routeOptions.config.inbound !== undefined) return bytes
    const encoding = request.headers['content-encoding']
    if (encoding !== undefined && encoding !== 'identity') throw unsupportedEncoding()
    return readBody(bytes, request.headers['content-type'], request.longTexts)
  })
}

function refuse(request: FastifyRequest, reply: FastifyReply, problem: Problem): FastifyReply {
  const challenge = request.routeOptions.config?.challenge
  if (problem.status === 401 && challenge !== undefined) reply.header('www-authenticate', challenge)
  reply.code(problem.status).headers(problem.headers)
  if (hasNoBody(problem)) return reply.send()
  const [type, body] = wantsDetails(request.headers.accept)
    ? ['application/problem+json', problemDetails(problem, `urn:uuid:${request.id}`)]
    : ['application/json', problem.body]
  return reply.header('content-type', type).send(Buffer.from(JSON.stringify(body)))
}

/** Malformed requests: the answer is written to the socket, which is then closed. */
function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const problem =
    error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
      ? requestTimeout()
      : error.code === 'HPE_HEADER_OVERFLOW'
        ? headersTooLarge()
        : badRequest()
  const body = JSON.stringify(problem.body)
  if (socket.writable)
    socket.write(
      `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\ncontent-type: application/json\r\n` +
        `content-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    )
  socket.destroySoon()
}
