import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Db } from '../db/db.ts'
import { AnswerMemory, counted } from './answers/answer_memory.ts'
import { compileAnswer, compileKept } from './answers/answers.ts'
import { contextOf, entryOf, type AnyContext } from './entry.ts'
import { addressOf } from './server/addresses.ts'
import { compileAttempt } from './idempotency/idempotency.ts'
import type { NamedOperation } from './operation.ts'
import { compileInbound, inboundRoute } from './inbound.ts'
import { compileEarlyAuthorization, compileVisit } from './params/early_authorization.ts'
import { createLargeBodySlots, largeBody } from './params/large_body.ts'
import { recheckGates } from './recheck_gates.ts'
import { groupByPath } from './answers/group_by_path.ts'
import { checkMatch, isConditional } from './precondition.ts'
import { Problem } from './problems.ts'
import type { Surroundings } from './surroundings.ts'
import './server/request_types.ts'
import { compileRepresent } from './answers/current_body.ts'
import { openUpload, withoutParsing } from './params/upload.ts'
import { write } from './writes.ts'

/** Mounts every operation below `prefix`, with HEAD for each GET. */
export function mount(
  app: FastifyInstance,
  prefix: string,
  operations: readonly NamedOperation[],
  surroundings: Surroundings,
): void {
  const bodies = { dataDir: surroundings.instance.config.dataDir, slots: createLargeBodySlots() }
  const reads = new Map(operations.flatMap((op) => (op.method === 'GET' ? [[op.path, op]] : [])))
  for (const [first, ...others] of groupByPath(operations)) {
    const byMethod = [first, ...others].flatMap((op) => {
      const handler = compile(op, surroundings, reads.get(op.path))
      return (op.method === 'GET' ? ['GET', 'HEAD'] : [op.method]).map((method) => ({ method, op, handler }))
    })
    const handlers = new Map(byMethod.map(({ method, handler }) => [method, handler]))
    const isStream = first.receives !== undefined
    const route: RouteOptions = {
      method: [...handlers.keys()],
      url: addressOf(prefix, first.path),
      config: {
        operations: Object.fromEntries(byMethod.map(({ method, op }) => [method, op.name])),
        ownDeadline: isStream,
        ...(first.challenge !== undefined && { challenge: first.challenge }),
        ...(first.inbound !== undefined && { inbound: first.inbound }),
      },
      ...(first.inbound !== undefined && inboundRoute(first.inbound)),
      ...(first.takes !== undefined &&
        largeBody(first.takes, bodies, compileEarlyAuthorization(first, surroundings))),
      handler: (request, reply) => handlers.get(request.method)?.(request, reply),
    }
    if (isStream) withoutParsing(app, (scope) => scope.route(route))
    else app.route(route)
  }
}

type Handler = (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** Every request passes these steps in this order. `read` is the GET of the same path. */
function compile(op: NamedOperation, around: Surroundings, read: NamedOperation | undefined): Handler {
  const { instance, signIn } = around
  if (op.inbound !== undefined) return compileInbound(op, around)
  const visitOf = compileVisit(op)
  const represent = read && compileRepresent(read, op.reads ?? {}, around)
  const answer = compileAnswer(op, around.checkAnswers, around.stallMs)
  const attemptOf = compileAttempt(op, instance, compileKept(op, around.checkAnswers))

  return async (request, reply) => {
    const { path, query, visit } = visitOf(request)
    const { sent, headers } = visit
    const visitor = await signIn(visit).catch(async (refusal: unknown) => {
      if (refusal instanceof Problem) reply.headers(await around.admit(null, visit.ip))
      throw refusal
    })
    reply.headers(await around.admit(visitor.owner ?? visitor.actor, visit.ip))
    request.actor = visitor.actor

    const memory = new AnswerMemory(reply.raw)
    const ctx = contextOf(instance, visitor, visit)
    if (op.method === 'GET') Object.assign(ctx, { db: counted(instance.db, memory) })
    const attempt = await attemptOf({ request, visit, visitor })
    const perform = async (): Promise<unknown> => {
      await entryOf(op)(ctx, sent, path)
      const received = await op.receives?.(ctx as never, openUpload(request, reply, instance.config.dataDir))
      const enterAgain = async (db: Db): Promise<AnyContext> => {
        const now = contextOf({ ...instance, db }, await signIn(visit), visit)
        await entryOf(op)(now, sent, path)
        return Object.assign(now, { received })
      }
      const conditional = isConditional(op, headers)
      const match = conditional ? headers['if-match'] : undefined
      const matches = (db: Db): Promise<void> =>
        checkMatch(match, represent && (() => represent(db, visit, path)))
      const handling =
        op.method === 'GET'
          ? op.handle(ctx as never)
          : write(op, { instance, ctx, enterAgain, matches, conditional, attempt })
      return handling.catch(async (error: unknown) => {
        const refusal = await recheckGates(error, () => enterAgain(instance.db))
        if (refusal !== undefined) request.log.info({ err: error }, 'what this operation leans on went away')
        throw refusal ?? error
      })
    }
    const answered = attempt === undefined ? await perform() : await attempt.once(perform)
    return answer(request, reply, answered, { ctx, query, memory })
  }
}
