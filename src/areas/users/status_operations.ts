import { Type as t, type Static } from 'typebox'
import { anyone, signedIn } from '../../access/gates/gates.ts'
import { isLonger, tooLong } from '../../core/values/lengths.ts'
import type { UserStatus } from '../../db/schema/people.ts'
import type { Context, Gate } from '../../http/gate.ts'
import * as core from '../../core/people/users.ts'
import { operation } from '../../http/operation.ts'
import { invalid, notFound, type Problem } from '../../http/problems.ts'
import { keysOf, nullable, oneOf, timestamp } from '../../http/params/schema.ts'
import type { User } from '../../db/schema/tables.ts'
import * as statuses from './status_store.ts'

const Status = t.Object({
  emoji: nullable(t.String()),
  availability: nullable(t.String()),
  message: nullable(t.String()),
  message_html: nullable(t.String()),
  clear_status_at: nullable(timestamp()),
})

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (sign) => ENTITIES[sign] ?? sign)

function present(given: UserStatus, now: Date): Static<typeof Status> {
  const over = given.clear_at !== undefined && Date.parse(given.clear_at) <= now.getTime()
  const { emoji, message, availability, clear_at }: UserStatus = over ? {} : given
  return {
    emoji: emoji ?? null,
    availability: availability ?? null,
    message: message ?? null,
    message_html: message === undefined ? null : escaped(message),
    clear_status_at: clear_at ?? null,
  }
}

const named: Gate<'checks', never, { params: { readonly user: string } }, { readonly user: User }> = {
  kind: 'checks',
  says: 'a user, by id or user name',
  refuses: () => notFound('User'),
  pass: async ({ db, params }: Context & { params: { readonly user: string } }) => {
    const ref = params.user
    const found = await (/^\d{1,15}$/.test(ref) ? core.find(db, Number(ref)) : core.findByUsername(db, ref))
    return found && { user: found }
  },
}

export const getStatusOfUser = operation({
  method: 'GET',
  path: '/users/:user/status',
  summary: 'Get the status of a user',
  published: true,
  scopes: ['read_user'],
  params: t.Object({ user: t.String({ description: 'The id or the user name' }) }),
  gates: [anyone, named],
  handle: async ({ now, user }) => present(user.status, now),
  returns: Status,
})

export const getOwnStatus = operation({
  method: 'GET',
  path: '/user/status',
  summary: 'Get the status of the caller',
  published: true,
  scopes: ['read_user'],
  gates: [signedIn],
  handle: async ({ db, now, actor }) => present((await core.find(db, actor.id))?.status ?? {}, now),
  returns: Status,
})

const HOUR = 3_600_000
const AFTER = {
  '30_minutes': HOUR / 2,
  '3_hours': 3 * HOUR,
  '8_hours': 8 * HOUR,
  '1_day': 24 * HOUR,
  '3_days': 72 * HOUR,
  '7_days': 168 * HOUR,
  '30_days': 720 * HOUR,
} as const
const TIMES = keysOf(AFTER)
const MAX_MESSAGE_CHARACTERS = 100
const overlong = (): Problem => invalid({ message: [tooLong(MAX_MESSAGE_CHARACTERS)] })

export const setOwnStatus = operation({
  method: 'PUT',
  path: '/user/status',
  summary: 'Set the status of the caller; fields that are left out are cleared',
  published: true,
  first: [signedIn],
  params: t.Object({
    emoji: t.Optional(t.String({ maxLength: 255 })),
    message: t.Optional(t.String()),
    availability: t.Optional(oneOf(['busy', 'not_set'])),
    clear_status_after: t.Optional(oneOf(TIMES)),
  }),
  gates: [],
  handle: async ({ db, now, actor, params }) => {
    const { clear_status_after: after, message = '', emoji = '', availability } = params
    if (isLonger(message, MAX_MESSAGE_CHARACTERS)) throw overlong()
    const says = emoji !== '' || message !== '' || availability === 'busy'
    const status: UserStatus = {
      // As published, words without a sign of their own are given this one.
      ...(says && { emoji: emoji === '' ? 'speech_balloon' : emoji }),
      ...(message !== '' && { message }),
      ...(availability && { availability }),
      ...(after && { clear_at: new Date(now.getTime() + AFTER[after]).toISOString() }),
    }
    await statuses.set(db, actor.id, status)
    return present(status, now)
  },
  returns: Status,
  refuses: [overlong],
})
