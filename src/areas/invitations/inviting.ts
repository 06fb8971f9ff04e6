import { Type as t, type Static } from 'typebox'
import {
  LIMIT,
  QUEUED,
  TOO_MANY,
  asksForPromotions,
  maySetLevel,
  queuesPromotions,
} from '../../access/gates/member_gates.ts'
import { digestOf, makeToken } from '../../access/tokens.ts'
import { sendInvitations } from '../../core/people/invitation_mail.ts'
import {
  faultOf,
  giveRole,
  sentenceOf,
  usernamesOf,
  type Source,
  type Told,
  type Wish,
} from '../../core/people/membership.ts'
import { checks, type Actor, type Has } from '../../http/gate.ts'
import { badParams, forbidden, refused, type Problem } from '../../http/problems.ts'
import { date, listOf } from '../../http/params/schema.ts'
import { enqueue } from '../../jobs/job.ts'
import { accessLevel } from './actions.ts'
import { addressesIn, isAddress } from './rules.ts'
import * as invitations from './store.ts'

// Inviting to a group and to a project: whoever is known becomes a member, and the others get a letter.

const texts = t.Record(t.String(), t.String())
const Outcome = t.Object({
  status: t.String(),
  message: t.Optional(t.Unsafe<string | Record<string, string>>({ anyOf: [t.String(), texts] })),
  queued_users: t.Optional(texts),
})

type Here = Has<{ source: Source; actor: Actor }>

const params = t.Object({
  email: t.Optional(listOf(t.String())),
  user_id: t.Optional(listOf(t.Integer())),
  access_level: accessLevel,
  expires_at: t.Optional(date()),
  invite_source: t.String({ default: 'invitations-api' }),
  member_role_id: t.Optional(
    t.Integer({ description: 'A role of one’s own making: there are none, so that any is refused' }),
  ),
})
type Wanted = Static<typeof params>

/** A parameter's fault, and so found before anything is looked for. */
export const wellAddressed = checks({
  says: 'addresses that are mail addresses',
  refuses: () => badParams(['email contains an invalid email address']),
  holds: ({ params }: Has<{ params: Pick<Wanted, 'email'> }>) => addressesIn(params.email).every(isAddress),
})

const nobody = (): Problem => refused('400 Bad request - Must provide either email or user_id as a parameter')

const noSuchRole = (): Problem => badParams(['member_role_id does not have a valid value'])

export const inviting = {
  params,
  handle: async (ctx: Here & { readonly params: Wanted }): Promise<Static<typeof Outcome>> => {
    const { actor, source, params, now } = ctx
    if (params.member_role_id !== undefined) throw noSuchRole()
    const emails = addressesIn(params.email)
    const ids = [...new Set(params.user_id)]
    if (emails.length + ids.length === 0) throw nobody()
    if (!maySetLevel(actor, source, params.access_level)) throw forbidden()
    if (emails.length + ids.length > LIMIT) return { status: 'error', message: TOO_MANY }
    const wish: Wish = {
      access_level: params.access_level,
      expires_at: params.expires_at ?? null,
      by: actor.id,
      queues: queuesPromotions(ctx, actor),
    }
    const fault = faultOf(source, wish, now.toISOString().slice(0, 10))
    if (fault !== undefined) return allRefused(ctx, { emails, ids }, sentenceOf(fault))
    return invite(ctx, { emails, ids }, wish)
  },
  returns: Outcome,
  refuses: [nobody, noSuchRole, forbidden],
} as const

interface Invitees {
  readonly emails: readonly string[]
  readonly ids: readonly number[]
}

async function allRefused(
  { db }: Here,
  { emails, ids }: Invitees,
  sentence: string,
): Promise<Static<typeof Outcome>> {
  const keys = [...emails, ...(await usernamesOf(db, ids))]
  return { status: 'error', message: Object.fromEntries(keys.map((key) => [key, sentence])) }
}

async function invite(ctx: Here, { emails, ids }: Invitees, wish: Wish): Promise<Static<typeof Outcome>> {
  const { db, source } = ctx
  const owners = emails.length === 0 ? new Map<string, number>() : await invitations.ownersOf(db, emails)
  const byAddress = new Map(
    emails.flatMap((email): [number, string][] => {
      const id = owners.get(email.toLowerCase())
      return id === undefined ? [] : [[id, email]]
    }),
  )
  const everybody = [...new Set([...ids, ...byAddress.keys()])]
  const told = everybody.length === 0 ? [] : await giveRole(db, source, everybody, wish)
  const strangers = emails.filter((email) => !owners.has(email.toLowerCase()))
  const refusals = [
    ...told.flatMap((one) => refusalOf(one, byAddress)),
    ...(await inviteStrangers(ctx, strangers, wish)),
  ]
  const queued = told.flatMap(({ username, outcome }) =>
    outcome.is === 'queued' ? [[username ?? '', QUEUED] as const] : [],
  )
  return {
    status: refusals.length === 0 ? 'success' : 'error',
    ...(refusals.length > 0 && { message: Object.fromEntries(refusals) }),
    ...(queued.length > 0 && { queued_users: Object.fromEntries(queued) }),
  }
}

/** Results of addresses are reported by address. */
function refusalOf(
  { id, username, outcome }: Told,
  byAddress: ReadonlyMap<number, string>,
): [string, string][] {
  const key = byAddress.get(id) ?? username ?? String(id)
  switch (outcome.is) {
    case 'refused':
      return [[key, sentenceOf(outcome)]]
    case 'known':
      return [[key, 'User already exists in source']]
    case 'absent':
      return [[key, 'User not found']]
    default:
      return []
  }
}

async function inviteStrangers(
  ctx: Here,
  emails: readonly string[],
  { access_level, expires_at }: Wish,
): Promise<[string, string][]> {
  if (emails.length === 0) return []
  const { db, actor, config, source, vault } = ctx
  const tokens = emails.map(() => makeToken(''))
  const made = await invitations.insert(db, source.kind, {
    emails,
    digests: tokens.map(digestOf),
    sealed: tokens.map((token) => vault.seal(token)),
    source_id: source.id,
    access_level,
    expires_at,
    waits: asksForPromotions(ctx, actor),
    by: actor.id,
  })
  if (made.length > 0 && config.smtpUrl !== undefined)
    await enqueue(db, sendInvitations, { ids: made.map(({ id }) => id) })
  const invited = new Set(made.map(({ email }) => email))
  return emails
    .filter((email) => !invited.has(email))
    .map((email) => [email, 'Invite email has already been taken'])
}
