import { Type as t, type Static } from 'typebox'
import { findForCollector, type CollectorKey } from '../../errors/client_keys.ts'
import type { ErrorEvent } from '../../errors/event.ts'
import { takeEvent } from '../../errors/intake.ts'
import { overQuota } from '../../errors/quota.ts'
import { allows, loads, type Has } from '../../http/gate.ts'
import type { Inbound } from '../../http/inbound_limits.ts'
import { operation } from '../../http/operation.ts'
import { bodyTooLarge, noSuchRecord, tooManyRequests, type Problem } from '../../http/problems.ts'
import { BODY_LIMIT, envelopeEvents, storedEvent, unreadable, unsupported } from './bodies.ts'

// Events of SDKs, sent to the address in a client key's DSN.

const busy = (seconds = 1): Problem => tooManyRequests({ 'retry-after': String(seconds) })

const inbound: Inbound = {
  limit: BODY_LIMIT,
  atOnce: 32,
  tooLarge: bodyTooLarge,
  busy: () => busy(),
  pause: 1_000,
}

/** The key, in the query or in a header. */
function keyIn({ params, header }: Has<{ params: { readonly sentry_key?: string } }>): string {
  if (params.sentry_key !== undefined) return params.sentry_key
  const given = header('x-sentry-auth') ?? header('authorization') ?? ''
  return /^sentry\s.*?\bsentry_key=([^,\s]+)/i.exec(given)?.[1] ?? ''
}

const clientKey = loads({
  param: 'id',
  type: t.Integer({ description: 'The id of the project' }),
  as: 'clientKey',
  says: 'a project and a client key of it',
  find: (ctx: Has<{ params: { readonly sentry_key?: string } }>, id) =>
    findForCollector(ctx.db, id, keyIn(ctx)),
})

/** A wrong key, a disabled one and a project that collects nothing are refused alike. */
const collecting = allows({
  says: 'a sender with an active client key, while the project collects errors',
  refuses: noSuchRecord,
  holds: ({ clientKey, settings }: Has<{ clientKey: CollectorKey }>) =>
    clientKey.collects && settings.enabled('integrated_error_tracking'),
})

const Collected = t.Object({ id: t.Optional(t.String({ description: 'The id of the event' })) })

type Received = Has<{ clientKey: CollectorKey }>

async function collect(ctx: Received, events: readonly ErrorEvent[]): Promise<Static<typeof Collected>> {
  const { db, settings, now, clientKey } = ctx
  for (const event of events) {
    const wait = overQuota(settings, clientKey.project_id, now)
    if (wait !== undefined) throw busy(wait)
    await takeEvent(db, { ...event, project_id: clientKey.project_id })
  }
  const [first] = events
  return first === undefined ? {} : { id: first.event_id }
}

const shared = {
  method: 'POST',
  published: true,
  inbound,
  params: t.Object({ sentry_key: t.Optional(t.String({ description: 'The client key' })) }),
  gates: [clientKey, collecting],
  returns: Collected,
  status: 200,
  refuses: [unreadable, unsupported],
} as const

export const createErrorEvent = operation({
  ...shared,
  path: '/error_tracking/collector/api/:id/store',
  summary: 'Receive an event of an older SDK',
  handle: async (ctx) =>
    collect(ctx, [await storedEvent(ctx.bytes, ctx.header('content-encoding'), ctx.now)]),
})

export const createErrorEnvelope = operation({
  ...shared,
  path: '/error_tracking/collector/api/:id/envelope',
  summary: 'Receive an envelope of an SDK',
  handle: async (ctx) =>
    collect(ctx, await envelopeEvents(ctx.bytes, ctx.header('content-encoding'), ctx.now)),
})
