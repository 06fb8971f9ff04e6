import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { createGitAccess, GitRefusal, type GitEntry, type GitWish } from '../access/git_access.ts'
import { GitError, isGitError } from '../git/errors.ts'
import { Serving, type GitProgram, type ProtocolVersion } from '../git/serving.ts'
import type { Actor } from '../http/operation.ts'
import { Problem } from '../http/problems.ts'
import type { Instance } from '../instance.ts'
import { openBody } from './bodies.ts'
import { relay } from './relay.ts'
import { Transfers, type TransferLimits } from './transfers.ts'

/** What bounds a conversation. Times in milliseconds, sizes in bytes. */
export interface TransportOptions {
  readonly transfers?: Partial<TransferLimits>
  /** How long neither side may send anything. */
  readonly silenceMs?: number
}

interface Surroundings extends TransportOptions {
  readonly instance: Instance
  /** Counts a request and gives the headers that its answer carries. Throws the published Problem for one too many. */
  readonly admit: (actor: Actor | null, ip: string) => Promise<Record<string, string>>
}

const MB = 1024 * 1024
/** What a client says while it negotiates: some 50 bytes for each ref and each commit it has. */
const NEGOTIATION = 64 * MB
const SILENCE = 60_000

const NO_CACHE = {
  'cache-control': 'no-cache, max-age=0, must-revalidate',
  expires: 'Fri, 01 Jan 1980 00:00:00 GMT',
  pragma: 'no-cache',
}

const PROGRAMS: Readonly<Record<string, GitProgram>> = {
  'git-upload-pack': 'upload-pack',
  'git-receive-pack': 'receive-pack',
}
const WISHES: Readonly<Record<GitProgram, GitWish>> = { 'upload-pack': 'fetch', 'receive-pack': 'push' }

/** Mounts clone, fetch and push. Addresses are brought below `/-/git` by `gitAddress` before they are routed. */
export function mountGit(app: FastifyInstance, surroundings: Surroundings): void {
  const around = {
    ...surroundings,
    access: createGitAccess(surroundings.instance),
    serving: new Serving(surroundings.instance.git.spawner),
    transfers: new Transfers(surroundings.transfers),
  }
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    // Bodies are read as they come, by whoever knows what they are.
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
    scope.setErrorHandler(async (error, request, reply) => answerRefusal(error, request, reply))
    const route = (method: 'GET' | 'POST', path: string, name: string, handler: Handler): void =>
      void scope.route({
        method,
        url: `/-/git/:place/${path}`,
        exposeHeadRoute: false,
        config: { operation: name, ownDeadline: true },
        handler: (request, reply) => handler(around, request, reply),
      })
    route('GET', 'info/refs', 'getGitRefs', infoRefs)
    route('POST', 'git-upload-pack', 'gitUploadPack', uploadPack)
  })
}

type Around = Surroundings & {
  readonly access: ReturnType<typeof createGitAccess>
  readonly serving: Serving
  readonly transfers: Transfers
}
type Handler = (around: Around, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

async function infoRefs(around: Around, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const service = new URLSearchParams((request.query as { text: string }).text).get('service') ?? ''
  const program = PROGRAMS[service]
  if (program === undefined) throw new GitRefusal(403, "The command you're trying to execute is not allowed.")
  const { path } = await enter(around, request, reply, WISHES[program])
  const directory = around.instance.git.directory(path)
  const body = await around.serving.advertise(directory, program, versionOf(request))
  return reply.headers(NO_CACHE).type(`application/x-${service}-advertisement`).send(body)
}

async function uploadPack(
  around: Around,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const entry = await enter(around, request, reply, 'fetch')
  const body = openBody(request, 'application/x-git-upload-pack-request', NEGOTIATION)
  const gone = goneSignal(reply)
  const leave = await around.transfers.enter(callerOf(entry, request), gone)
  try {
    const directory = around.instance.git.directory(entry.path)
    const git = await around.serving.upload(directory, versionOf(request))
    const answer = relay(git, body, { gone, silenceMs: around.silenceMs ?? SILENCE })
    void git.ended.catch(() => {}).finally(leave)
    return reply.headers(NO_CACHE).type('application/x-git-upload-pack-result').send(answer)
  } catch (error) {
    leave()
    throw error
  }
}

async function enter(
  { access, admit }: Around,
  request: FastifyRequest,
  reply: FastifyReply,
  wish: GitWish,
): Promise<GitEntry> {
  const { place } = request.params as { place: string }
  const entry = await access(wish, place, request.headers.authorization).catch(async (refusal: unknown) => {
    if (refusal instanceof GitRefusal) reply.headers(await admit(null, request.ip))
    throw refusal
  })
  reply.headers(await admit(entry.actor, request.ip))
  request.actor = entry.actor
  return entry
}

const callerOf = ({ actor }: GitEntry, { ip }: FastifyRequest): string =>
  actor === null ? ip : String(actor.id)

/** Fires when the client has gone before it had its whole answer. */
function goneSignal(reply: FastifyReply): AbortSignal {
  const controller = new AbortController()
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) controller.abort()
  })
  return controller.signal
}

function versionOf({ headers }: FastifyRequest): ProtocolVersion {
  const given = headers['git-protocol']
  const version = /(?:^|:)version=([012])(?:$|:)/.exec(typeof given === 'string' ? given : '')?.[1]
  return Number(version ?? 0) as ProtocolVersion
}

function answerRefusal(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const refusal = refusalOf(error)
  if (refusal === undefined) throw error
  if (refusal.status >= 500) request.log.warn({ err: error }, 'a transfer failed')
  // What is not read of the body must not be taken for the next request.
  if (!request.raw.complete) reply.header('connection', 'close')
  return reply
    .code(refusal.status)
    .headers({ ...NO_CACHE, ...refusal.headers })
    .type('text/plain; charset=utf-8')
    .send(refusal.message)
}

function refusalOf(error: unknown): GitRefusal | undefined {
  if (error instanceof GitRefusal) return error
  if (error instanceof Problem && error.status === 429)
    return new GitRefusal(429, 'Retry later', { ...error.headers })
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
    return new GitRefusal(404, 'A repository for this project does not exist yet.')
  if (isGitError(error, 'refused')) return new GitRefusal(400, 'The request is not what git sends.')
  if (error instanceof GitError)
    return new GitRefusal(503, 'The repository cannot be served at the moment. Try again soon.', {
      'retry-after': '1',
    })
  return undefined
}
