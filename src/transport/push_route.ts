import { PassThrough, type Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { GitRefusal, NoProjectYet, type GitEntry } from '../access/git_access.ts'
import { CreationRefused, makeForPush } from '../core/pushes/push_to_create.ts'
import { isGitDiskFull } from '../git/errors.ts'
import { PktReader } from '../git/wire/pkt_lines.ts'
import { PushReport } from '../git/wire/push_report.ts'
import { readPush } from '../git/wire/push_request.ts'
import { openBody } from './bodies.ts'
import { NO_CACHE, SILENCE, callerOf, enter, goneSignal, placeIn, type Around } from './git_http.ts'
import { madeRemark, movedRemark, optionsRemark } from './remarks.ts'
import type { Push } from './judging.ts'
import { receive } from './receive.ts'

const MB = 1024 * 1024
/** Bytes of the commands of a push, which stand before its pack. */
const COMMANDS = 8 * MB
const PACK = 2048 * MB
const BEAT = 5_000

/** Lets the client in; a push to a path without a project makes one where the caller may. */
async function enterOrMake(
  around: Around,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<GitEntry & { readonly remark: string }> {
  const place = placeIn(request)
  const { instance, access } = around
  try {
    const entry = await enter(around, request, reply, 'push')
    return { ...entry, remark: movedRemark(instance, entry, place) }
  } catch (refusal) {
    if (!(refusal instanceof NoProjectYet)) throw refusal
    const made = await makeForPush(instance, refusal.actor, refusal.place).catch((error: unknown) => {
      throw error instanceof CreationRefused
        ? new GitRefusal(422, `Could not create project: ${error.message}`)
        : error
    })
    request.actor = refusal.actor
    const entry = await access('push', made, request.headers.authorization)
    return { ...entry, remark: madeRemark(instance, entry.project) }
  }
}

const noPush = (): GitRefusal => new GitRefusal(403, 'You are not allowed to push code to this project.')

/** Answers one push. */
export async function receivePack(
  around: Around,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const entry = await enterOrMake(around, request, reply)
  const { actor } = entry
  if (actor === null) throw noPush()
  const { instance, maxPushBytes = PACK, silenceMs = SILENCE } = around
  const body = openBody(request, 'application/x-git-receive-pack-request', COMMANDS + maxPushBytes)
  const leave = await around.transfers.enter(callerOf(entry, request), goneSignal(reply))
  const unwatch = watchSilence(request, body, silenceMs)
  const end = (): void => {
    unwatch()
    leave()
  }
  try {
    const reader = new PktReader(body, COMMANDS)
    const push = await readPush(reader)
    reply.headers(NO_CACHE).type('application/x-git-receive-pack-result')
    if (push.commands.length === 0) {
      end()
      return reply.send('')
    }
    const whole = { ...entry, actor }
    const enterAgain = async (): Promise<Push['entry']> => {
      const now = await around.access('push', entry.project.id, request.headers.authorization)
      if (now.actor === null) throw noPush()
      return { ...now, actor: now.actor }
    }
    const remark = entry.remark + (await optionsRemark(instance, whole, push))
    const answer = answerLater(
      { instance, entry: whole, enterAgain, request: push, reader, maxBytes: maxPushBytes, remark },
      body,
      { failed: (error) => request.log.error({ err: error }, 'a push failed'), end },
    )
    return reply.send(answer)
  } catch (error) {
    end()
    throw error
  }
}

/** The answer as it comes to be. A client that has said everything is shown now and then that it was not forgotten. */
function answerLater(
  push: Push,
  body: Readable,
  { failed, end }: { failed: (error: unknown) => void; end: () => void },
): Readable {
  const report = new PushReport(push.request.capabilities)
  const answer = new PassThrough()
  const beat = setInterval(() => {
    if (body.readableEnded) answer.write(report.keepAlive())
  }, BEAT)
  receive(push, report)
    .catch((error: unknown) => {
      failed(error)
      // The answer has begun: what else would be its status stands in the report.
      const refusal = isGitDiskFull(error) ? '507 Insufficient Storage' : 'internal server error'
      const verdicts = push.request.commands.map(({ ref }) => ({ ref, refusal }))
      return report.end(refusal, verdicts)
    })
    .then((bytes) => answer.end(bytes))
    .catch(() => undefined)
    // Not when the client leaves: what it began goes on without it, and holds its place.
    .finally(() => {
      clearInterval(beat)
      end()
    })
  return answer
}

/** Ends a body of which nothing comes for too long. */
function watchSilence(request: FastifyRequest, body: Readable, silenceMs: number): () => void {
  const { socket } = request.raw
  let heard = -1
  const watch = setInterval(() => {
    if (request.raw.complete) clearInterval(watch)
    else if (socket.bytesRead === heard) {
      body.destroy(new GitRefusal(408, 'The request came to a halt.'))
      socket.destroySoon()
    }
    heard = socket.bytesRead
  }, silenceMs)
  return () => clearInterval(watch)
}
