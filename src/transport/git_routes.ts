import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  createGitAccess,
  GitRefusal,
  NoProjectYet,
  type GitEntry,
  type GitWish,
} from '../access/git_access.ts'
import { hasFeature } from '../core/places/project_features.ts'
import { Remark } from '../git/wire/remark.ts'
import { NO_REFS, Serving, type GitProgram, type ProtocolVersion, type Shown } from '../git/wire/serving.ts'
import { openBody } from './bodies.ts'
import {
  NO_CACHE,
  SILENCE,
  answerRefusal,
  callerOf,
  enter,
  goneSignal,
  placeIn,
  type Around,
  type Surroundings,
} from './git_http.ts'
import { refuseLfs } from './lfs_route.ts'
import { receivePack } from './push_route.ts'
import { movedRemark } from './remarks.ts'
import { relay } from './relay.ts'
import { Transfers } from './transfers.ts'

const MB = 1024 * 1024
/** A client's negotiation: some 50 bytes for each ref and each commit it has. */
const NEGOTIATION = 64 * MB
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
        config: { operations: { [method]: name }, ownDeadline: true },
        handler: (request, reply) => handler(around, request, reply),
      })
    refuseLfs(scope)
    route('GET', 'info/refs', 'getGitRefs', infoRefs)
    route('POST', 'git-upload-pack', 'gitUploadPack', uploadPack)
    route('POST', 'git-receive-pack', 'gitReceivePack', receivePack)
  })
}

type Handler = (around: Around, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

async function infoRefs(around: Around, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const service = new URLSearchParams((request.query as { text: string }).text).get('service') ?? ''
  const program = PROGRAMS[service]
  if (program === undefined) throw new GitRefusal(403, "The command you're trying to execute is not allowed.")
  const entry = await enter(around, request, reply, WISHES[program]).catch((refusal: unknown) => {
    if (refusal instanceof NoProjectYet) return undefined
    throw refusal
  })
  reply.headers(NO_CACHE).type(`application/x-${service}-advertisement`)
  if (entry === undefined) return reply.send(NO_REFS)
  const { path, actor } = entry
  if (actor !== null) {
    const { turns } = around.instance.git.repository(path)
    if (program === 'receive-pack') turns.wants(String(actor.id))
    else await turns.begin(String(actor.id))
  }
  const directory = around.instance.git.directory(path)
  const body = await around.serving.advertise(directory, program, versionOf(request), shownTo(entry))
  return reply.send(body)
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
    const git = await around.serving.upload(directory, versionOf(request), shownTo(entry))
    const answer = relay(git, body, { gone, silenceMs: around.silenceMs ?? SILENCE })
    void git.ended.catch(() => {}).finally(leave)
    const remark = movedRemark(around.instance, entry, placeIn(request))
    const told = remark === '' || versionOf(request) !== 2 ? answer : answer.pipe(new Remark(remark))
    answer.once('error', (error) => told.destroy(error))
    return reply.headers(NO_CACHE).type('application/x-git-upload-pack-result').send(told)
  } catch (error) {
    leave()
    throw error
  }
}

const shownTo = ({ actor, project }: GitEntry): Shown => ({
  mergeRequests: hasFeature(actor, project, 'merge_requests'),
})

function versionOf({ headers }: FastifyRequest): ProtocolVersion {
  const given = headers['git-protocol']
  const version = /(?:^|:)version=([012])(?:$|:)/.exec(typeof given === 'string' ? given : '')?.[1]
  return Number(version ?? 0) as ProtocolVersion
}
