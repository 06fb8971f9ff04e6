import { randomUUID } from 'node:crypto'
import { Type as t, type Static } from 'typebox'
import { renderPayload } from '../../hooks/payloads/payload.ts'
import { attemptDelivery, type Attempt, type Envelope } from '../../hooks/request.ts'
import { countOutcome, type Delivery } from '../../hooks/rows.ts'
import { loads } from '../../http/gate.ts'
import { pageOf, type PageRequest } from '../../http/operation.ts'
import { oneOf } from '../../http/params/schema.ts'
import { badParams, tooManyRequests, unprocessable, type Problem } from '../../http/problems.ts'
import { presentPage } from '../../http/answers/pages.ts'
import { HookEvent, presentDelivery } from './entity.ts'
import type { OnHook } from './actions.ts'
import { TEST_TRIGGERS, missing, sampleEvent, type TestTrigger } from './samples.ts'
import * as hooks from './store.ts'

// Tests, recent deliveries, and sending them again.

const unsent = (text: string): Problem => unprocessable(text)
const tooOften = (): Problem => tooManyRequests({ 'retry-after': '60' })
const moved = (): Problem => unprocessable('The hook URL has changed. Unable to resend the request.')

/** Sends once, for a user who waits, and keeps what came of it. A good answer enables the webhook again. */
async function sendFor(ctx: OnHook, envelope: Envelope, body: string): Promise<Attempt> {
  const { db, hook, actor } = ctx
  const attempt = await attemptDelivery(ctx, hook, envelope, body)
  await hooks.keepAsked(db, { hook_id: hook.id, asked_by: actor.id, body }, envelope, attempt)
  if (attempt.ok) await countOutcome(db, hook.id, { ok: true })
  return attempt
}

const testParams = { trigger: oneOf(TEST_TRIGGERS) }
export const testing = {
  moves: 'upstream',
  params: t.Object(testParams),
  handle: async (ctx: OnHook & { readonly params: { readonly trigger: TestTrigger } }) => {
    const { owner, actor, params } = ctx
    const { trigger } = params
    if (await hooks.hasAskedEnough(ctx.db, owner, actor.id)) throw tooOften()
    const event = await sampleEvent(ctx, owner, trigger, actor.id)
    const payload = event && (await renderPayload(ctx, event, false))
    if (payload === undefined) throw unsent(missing(trigger))
    const envelope = { trigger, idempotency_key: randomUUID(), event_uuid: randomUUID() }
    const attempt = await sendFor(ctx, envelope, JSON.stringify(payload))
    if (attempt.fault !== undefined) throw unsent(attempt.fault.message)
    if (!attempt.ok) throw unsent(attempt.response_body || attempt.response_status)
    return { message: '201 Created' }
  },
  returns: t.Object({ message: t.String() }),
  refuses: [unsent(missing('issues_events')), tooOften],
} as const

const listParams = t.Object({
  status: t.Optional(
    t.String({
      description: 'A code, `successful`, `client_failure` or `server_failure`; several with commas',
    }),
  ),
})
export const listing = {
  params: listParams,
  handle: async (
    ctx: OnHook & { readonly params: Static<typeof listParams>; readonly page: PageRequest },
  ) => {
    const statuses = ctx.params.status?.split(',').map((word) => word.trim()) ?? []
    if (!statuses.every(hooks.isStatus)) throw badParams(['status does not have a valid value'])
    return presentPage(
      await hooks.listDeliveries(ctx.db, ctx.hook.id, statuses, { ...ctx.page }),
      presentDelivery,
    )
  },
  returns: pageOf(HookEvent, { most: 20 }),
  refuses: [badParams(['status does not have a valid value'])],
}

export const delivery = loads({
  param: 'hook_event_id',
  type: t.Integer(),
  as: 'delivery',
  says: 'a delivery of the webhook',
  find: ({ db, hook }: OnHook, id) => hooks.findDelivery(db, hook.id, id),
})

export const resending = {
  moves: 'upstream',
  handle: async (ctx: OnHook & { readonly delivery: Delivery }) => {
    const { db, owner, actor, hook, delivery: before } = ctx
    if (await hooks.hasAskedEnough(db, owner, actor.id)) throw tooOften()
    if (before.url !== hook.url || before.body === null) throw moved()
    const attempt = await sendFor(ctx, before, before.body)
    if (attempt.fault !== undefined) throw unsent(attempt.fault.message)
    return { response_status: Number(attempt.response_status) }
  },
  returns: t.Object({ response_status: t.Integer() }),
  refuses: [moved, tooOften, unsent('Connection refused')],
} as const
