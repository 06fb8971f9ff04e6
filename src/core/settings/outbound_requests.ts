import { Agent, request as requestHttp, type IncomingMessage, type RequestOptions } from 'node:http'
import { Agent as SecureAgent, request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { CircuitOpen, createCircuit, type CircuitLimits } from './circuit.ts'
import { ForbiddenAddress, UnknownHost, outboundAddress } from './outbound.ts'
import type { Settings } from './settings.ts'

export interface OutboundLimits extends CircuitLimits {
  /** Milliseconds from the name's resolution to the last byte of the response. */
  readonly timeout_ms: number
  /** Bytes of a response body. */
  readonly max_bytes: number
  /** Connections to one address; further requests queue, and their timeout runs. */
  readonly max_sockets: number
}
export const OUTBOUND_LIMITS: OutboundLimits = {
  timeout_ms: 60_000,
  max_bytes: 10 * 1024 * 1024,
  max_sockets: 16,
  failures: 5,
  open_ms: 30_000,
}

/** `open` is the circuit's; `blocked` an address that the instance does not connect to. */
export type OutboundFaultKind = 'blocked' | 'unreachable' | 'timeout' | 'too_large' | 'open'

/** A request that got no whole response. The message names no address: callers may be shown it. */
export class OutboundFault extends Error {
  readonly kind: OutboundFaultKind
  constructor(kind: OutboundFaultKind, text: string, cause?: unknown) {
    super(text, { cause })
    this.kind = kind
  }
}

export interface OutboundRequest {
  readonly method: 'GET' | 'POST'
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Milliseconds, where they are less than the limit of all requests. */
  readonly timeout_ms?: number
  /** Bytes of the response body that are kept; a longer one is cut. Left out: a longer one than the limit is a fault. */
  readonly kept_bytes?: number
  /** Set where the certificate of the server is not checked. */
  readonly insecure?: boolean
}
export interface OutboundResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Requests to servers elsewhere, over reused connections. Redirects are responses like any other. */
export interface Outbound {
  /** Throws OutboundFault. */
  readonly send: (request: OutboundRequest) => Promise<OutboundResponse>
  readonly close: () => void
}

interface OutboundOptions {
  readonly settings: Pick<Settings, 'get'>
  readonly limits?: Partial<OutboundLimits> | undefined
  readonly log?: (event: { readonly origin: string; readonly kind: string; readonly err: unknown }) => void
}

export function openOutbound({ settings, limits: given, log = () => {} }: OutboundOptions): Outbound {
  const limits = { ...OUTBOUND_LIMITS, ...given }
  const pool = { keepAlive: true, maxSockets: limits.max_sockets }
  const agents = { 'http:': new Agent(pool), 'https:': new SecureAgent(pool) }
  let insecure: SecureAgent | undefined
  const agentFor = ({ url, insecure: isOpen }: OutboundRequest): Agent => {
    if (url.protocol !== 'https:') return agents['http:']
    return isOpen === true
      ? (insecure ??= new SecureAgent({ ...pool, rejectUnauthorized: false }))
      : agents['https:']
  }
  const circuit = createCircuit(limits)
  const attempt = async (request: OutboundRequest): Promise<OutboundResponse> => {
    const timeout = Math.min(limits.timeout_ms, request.timeout_ms ?? limits.timeout_ms)
    const signal = AbortSignal.timeout(timeout)
    try {
      const address = await beforeAbort(signal, outboundAddress(settings, request.url))
      const agent = agentFor(request)
      const options = { ...optionsOf(request, address), agent, signal }
      return await beforeAbort(signal, exchange(request, options, limits.max_bytes))
    } catch (error) {
      throw signal.aborted ? timedOut(timeout, error) : faultOf(error)
    }
  }
  return {
    send: (request) =>
      circuit
        .run(request.url.origin, () => attempt(request), isFailure)
        .catch((error: unknown) => {
          const fault = faultOf(error)
          log({ origin: request.url.origin, kind: fault.kind, err: fault.cause ?? fault })
          throw fault
        }),
    close: () => {
      for (const agent of Object.values(agents)) agent.destroy()
      insecure?.destroy()
    },
  }
}

/** Whether the server is to blame: it cannot be reached, or does not answer in time. */
const isFailure = (error: unknown): boolean =>
  error instanceof OutboundFault && (error.kind === 'unreachable' || error.kind === 'timeout')

const timedOut = (milliseconds: number, cause: unknown): OutboundFault =>
  new OutboundFault('timeout', `Request timed out after ${milliseconds / 1000} seconds`, cause)

/** The address that was checked is the one connected to: it stands in place of the name, also in the agent's pool. */
function optionsOf({ method, url, headers, body }: OutboundRequest, address: string): RequestOptions {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return {
    host: address,
    port: url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port,
    method,
    path: url.pathname + url.search,
    ...(isIP(host) === 0 && { servername: host }),
    headers: {
      ...headers,
      host: url.host,
      'accept-encoding': 'identity',
      ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
    },
  }
}

/** Sends once; a second time where the server closed a reused connection before it read the request. */
async function exchange(
  request: OutboundRequest,
  options: RequestOptions,
  maxBytes: number,
): Promise<OutboundResponse> {
  const once = (): Promise<OutboundResponse> =>
    new Promise((resolve, reject) => {
      const open = request.url.protocol === 'https:' ? requestHttps : requestHttp
      let isAnswered = false
      const sent = open(options, (response) => {
        isAnswered = true
        read(response, maxBytes, request.kept_bytes).then(resolve, reject)
      })
      // A response that switches protocols closes the connection without an error.
      sent.on('close', () => {
        if (!isAnswered) reject(Object.assign(new Error('closed without a response'), { code: 'ECONNRESET' }))
      })
      sent.on('error', (error: NodeJS.ErrnoException) =>
        reject(sent.reusedSocket && error.code === 'ECONNRESET' ? new StaleConnection() : error),
      )
      sent.end(request.body)
    })
  return once().catch((error: unknown) => {
    if (error instanceof StaleConnection) return once()
    throw error
  })
}
class StaleConnection extends Error {
  readonly code = 'ECONNRESET'
}

async function read(response: IncomingMessage, maxBytes: number, kept = Infinity): Promise<OutboundResponse> {
  const tooLarge = (): never => {
    response.destroy()
    throw new OutboundFault('too_large', `The response is larger than ${maxBytes} bytes`)
  }
  const declared = Number(response.headers['content-length'] ?? 0)
  if (kept === Infinity && declared > maxBytes) return tooLarge()
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > maxBytes && kept === Infinity) return tooLarge()
    chunks.push(chunk)
    if (bytes >= kept) break
  }
  const headers = Object.fromEntries(
    Object.entries(response.headers).map(([name, value]) => [name, String(value)]),
  )
  const body = Buffer.concat(chunks).subarray(0, kept)
  return { status: response.statusCode ?? 0, headers, body }
}

/** Rejects when the time is over, however long `work` takes: a name server may take longer than the request may. */
function beforeAbort<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    work.then(resolve, reject)
  })
}

const TEXTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'Connection refused',
  ECONNRESET: 'Connection reset by peer',
  EHOSTUNREACH: 'No route to host',
  ENETUNREACH: 'Network is unreachable',
  ETIMEDOUT: 'Connection timed out',
}

function faultOf(error: unknown): OutboundFault {
  if (error instanceof OutboundFault) return error
  if (error instanceof CircuitOpen)
    return new OutboundFault(
      'open',
      'The server did not respond several times and is not asked for now',
      error,
    )
  if (error instanceof UnknownHost)
    return new OutboundFault('unreachable', 'getaddrinfo: Name or service not known', error)
  if (error instanceof ForbiddenAddress)
    return new OutboundFault(
      'blocked',
      'URL is blocked: Requests to the local network are not allowed',
      error,
    )
  const { code = '' } = error as NodeJS.ErrnoException
  return new OutboundFault('unreachable', TEXTS[code] ?? 'The connection failed', error)
}
