import type { FastifyReply, FastifyRequest } from 'fastify'
import {
  GitRefusal,
  NoProjectYet,
  type createGitAccess,
  type GitEntry,
  type GitWish,
} from '../access/git_access.ts'
import { GitError, isGitDiskFull, isGitError } from '../git/errors.ts'
import type { Serving } from '../git/wire/serving.ts'
import type { Actor } from '../http/gate.ts'
import { Problem } from '../http/problems.ts'
import type { Instance } from '../instance.ts'
import type { TransferLimits, Transfers } from './transfers.ts'

/** Limits of an exchange. Times in milliseconds, sizes in bytes. */
export interface TransportOptions {
  readonly transfers?: Partial<TransferLimits>
  /** How long neither side may send anything. */
  readonly silenceMs?: number
  /** Bytes of the pack of one push. */
  readonly maxPushBytes?: number
}

export interface Surroundings extends TransportOptions {
  readonly instance: Instance
  /** Counts a request and gives the headers that its answer carries. Throws the published Problem for one too many. */
  readonly admit: (actor: Actor | null, ip: string) => Promise<Record<string, string>>
}

/** Context of every route. */
export type Around = Surroundings & {
  readonly access: ReturnType<typeof createGitAccess>
  readonly serving: Serving
  readonly transfers: Transfers
}
/** Without a byte for so long a conversation is over. */
export const SILENCE = 60_000

export const NO_CACHE = {
  'cache-control': 'no-cache, max-age=0, must-revalidate',
  expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  pragma: 'no-cache',
}

/** The path or alias that the address names. */
export const placeIn = ({ params }: FastifyRequest): string => (params as { place: string }).place

/** Lets the client in, or throws what refuses it; counts the request either way. */
export async function enter(
  { access, admit }: Around,
  request: FastifyRequest,
  reply: FastifyReply,
  wish: GitWish,
): Promise<GitEntry> {
  const entry = await access(wish, placeIn(request), request.headers.authorization).catch(
    async (refusal: unknown) => {
      if (refusal instanceof GitRefusal) {
        const actor = refusal instanceof NoProjectYet ? refusal.actor : null
        reply.headers(await admit(actor, request.ip))
      }
      throw refusal
    },
  )
  reply.headers(await admit(entry.actor, request.ip))
  request.actor = entry.actor
  return entry
}

export const callerOf = ({ actor }: GitEntry, { ip }: FastifyRequest): string =>
  actor === null ? ip : String(actor.id)

/** Fires when the client has gone before it had its whole answer. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}

/** Tells git's user what went wrong, in plain text; throws what is no refusal. */
export function answerRefusal(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = refusalOf(error)
  if (refusal === undefined) throw error
  if (refusal.status >= 500) request.log.warn({ err: error }, 'a transfer failed')
  // Unread bytes of the body must not be taken for the next request.
  if (!request.raw.complete) reply.header('connection', 'close')
  return reply
    .code(refusal.status)
    .headers({ ...NO_CACHE, ...refusal.headers })
    .type('text/plain; charset=utf-8')
    .send(refusal.message)
}

const NOT_GIT = 'The request is not what git sends.'
const BROKEN = new Set(['EPIPE', 'ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE', 'Z_DATA_ERROR', 'Z_BUF_ERROR'])

function refusalOf(error: unknown): GitRefusal | undefined {
  if (error instanceof GitRefusal) return error
  if (error instanceof Problem && error.status === 429)
    return new GitRefusal(429, 'Retry later', { ...error.headers })
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
    return new GitRefusal(404, 'A repository for this project does not exist yet.')
  if (isGitError(error, 'refused')) return new GitRefusal(400, NOT_GIT)
  // Git ended before it had read everything, or without a word: it takes only what git would send.
  if (error instanceof Error && 'code' in error && BROKEN.has(String(error.code)))
    return new GitRefusal(400, NOT_GIT)
  if (isGitError(error, 'too_large')) return new GitRefusal(413, 'The request is larger than it may be.')
  if (isGitError(error, 'aborted')) return new GitRefusal(400, 'The request ended early.')
  if (error instanceof GitError && !isGitDiskFull(error))
    return new GitRefusal(503, 'The repository cannot be served at the moment. Try again soon.', {
      'retry-after': '1',
    })
  return undefined
}
