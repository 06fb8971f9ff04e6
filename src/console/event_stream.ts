import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Actor } from '../http/gate.ts'
import { emptyTree } from '../http/params/forms.ts'
import { badParams, tooManyRequests, unauthorized } from '../http/problems.ts'
import type { Surroundings } from '../http/surroundings.ts'
import type { Instance } from '../instance.ts'
import { BATCH, eventsAfter, lastSeq, type StreamedEvent } from './event_store.ts'

type Db = Instance['db']

/** Milliseconds between two looks for new events, while a stream is open. */
const ROUND = 250
/** Milliseconds after which a silent stream gets a comment, and its token is checked again. */
const HEARTBEAT = 15_000
/** Milliseconds in which a client must take what was written. */
const STALL = 30_000
/** Open streams of one user, and of this process. */
const MAX_OF_USER = 10
const MAX_OPEN = 1_000

interface Stream {
  readonly user: number
  readonly raw: ServerResponse
  /** Ends the rest between two looks; undefined while it looks. */
  wake?: (() => void) | undefined
  hasNews: boolean
}

const wake = (stream: Stream): void => {
  stream.hasNews = true
  stream.wake?.()
}

/** The open streams of a process, and the one look for all of them: each reads for itself only when something is new. */
function createStreams(db: Db): {
  readonly add: (stream: Stream) => void
  readonly remove: (stream: Stream) => void
  readonly isFull: (user: number) => boolean
  readonly endAll: () => void
} {
  const streams = new Set<Stream>()
  let newest = 0
  let clock: NodeJS.Timeout | undefined
  const look = async (): Promise<void> => {
    const seq = await lastSeq(db)
    if (seq <= newest) return
    newest = seq
    for (const stream of streams) wake(stream)
  }
  return {
    add: (stream) => {
      streams.add(stream)
      clock ??= setInterval(() => void look().catch(() => {}), ROUND)
    },
    remove: (stream) => {
      streams.delete(stream)
      if (streams.size > 0) return
      clearInterval(clock)
      clock = undefined
    },
    isFull: (user) =>
      streams.size >= MAX_OPEN || [...streams].filter((stream) => stream.user === user).length >= MAX_OF_USER,
    endAll: () => {
      for (const { raw } of streams) raw.end()
    },
  }
}

/** Resolves when there is news, and at the latest with the next heartbeat. */
const rest = (stream: Stream): Promise<void> =>
  new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      stream.wake = undefined
      resolve()
    }
    const timer = setTimeout(end, HEARTBEAT)
    stream.wake = end
  })

/** Writes events behind `cursor` until the client goes. `viewer` signs the caller in anew, and throws what refuses it. */
async function follow(db: Db, stream: Stream, cursor: number, viewer: () => Promise<Actor>): Promise<void> {
  const { raw } = stream
  for (let seq = cursor; !raw.writableEnded && !raw.destroyed;) {
    stream.hasNews = false
    // The token may have been revoked and roles may have changed since the last look.
    const events = await eventsAfter(db, await viewer(), seq)
    const text = events.flatMap((event) => (event.visible ? [frameOf(event)] : [])).join('')
    await write(raw, text === '' ? ': \n\n' : text)
    seq = events.at(-1)?.seq ?? seq
    // A client that goes wakes its stream, maybe while it looked.
    if (events.length < BATCH && !hasNews(stream)) await rest(stream)
  }
}
const hasNews = (stream: Stream): boolean => stream.hasNews

const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'x-accel-buffering': 'no',
}

/** `GET /-/events`: events as they are committed, resumed behind the cursor `Last-Event-ID`. */
export function mountEventStream(
  app: FastifyInstance,
  tools: Pick<Surroundings, 'signIn' | 'admit'> & { readonly instance: Pick<Instance, 'db'> },
): void {
  const { db } = tools.instance
  const streams = createStreams(db)
  const signIn = async ({ method, headers, ip }: FastifyRequest): Promise<Actor> => {
    const { actor } = await tools.signIn({ method, headers, sent: emptyTree(), ip, preload: undefined })
    if (actor === null) throw unauthorized()
    return actor
  }
  app.addHook('preClose', async () => streams.endAll())
  app.get('/-/events', async (request, reply) => {
    const actor = await signIn(request).catch(async (refusal: unknown) => {
      reply.headers(await tools.admit(null, request.ip))
      throw refusal
    })
    const counted = await tools.admit(actor, request.ip)
    if (streams.isFull(actor.id)) throw tooManyRequests({ 'retry-after': '30' })
    const stream: Stream = { user: actor.id, raw: reply.raw, hasNews: true }
    streams.add(stream)
    try {
      const cursor = readCursor(request) ?? (await lastSeq(db))
      reply.hijack()
      reply.raw.writeHead(200, { ...counted, ...HEADERS })
      reply.raw.on('close', () => wake(stream))
      await follow(db, stream, cursor, () => signIn(request))
    } catch (error) {
      if (!reply.sent) throw error
      request.log.debug({ err: error }, 'an event stream ended')
    } finally {
      streams.remove(stream)
      if (reply.sent) reply.raw.end()
    }
  })
}

/** The number behind which a stream goes on, where the client names one. */
function readCursor({ headers, query }: FastifyRequest): number | undefined {
  const { text } = query as { readonly text: string }
  const given = headers['last-event-id'] ?? new URLSearchParams(text).get('last_event_id') ?? ''
  if (given === '') return undefined
  if (!/^\d{1,15}$/.test(String(given))) throw badParams(['last_event_id is invalid'])
  return Number(given)
}

const frameOf = ({ seq, visible: _visible, ...event }: StreamedEvent): string =>
  `id: ${seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`

/** Writes, and waits for the client where it reads more slowly. */
async function write(raw: ServerResponse, text: string): Promise<void> {
  if (raw.write(text) || raw.destroyed) return
  await once(raw, 'drain', { signal: AbortSignal.timeout(STALL) })
}
