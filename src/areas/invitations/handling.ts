import { Type as t, type Static } from 'typebox'
import { LIMIT, QUEUED, TOO_MANY, manages, maySetLevel, queuesPromotions } from '../../access/member_gates.ts'
import { digestOf, makeToken } from '../../access/tokens.ts'
import { sendInvitations } from '../../core/invitation_mail.ts'
import {
  LEVELS,
  faultOf,
  giveRole,
  sentenceOf,
  usernamesOf,
  type Source,
  type Told,
  type Wish,
} from '../../core/membership.ts'
import { checks, loads, type Actor, type Gate, type Has } from '../../http/gate.ts'
import { nothing, pageOf, type PageRequest } from '../../http/operation.ts'
import { badParams, conflict, forbidden, invalid, noSuchRecord, refused } from '../../http/problems.ts'
import { listOf, nullable, timestamp } from '../../http/schema.ts'
import { enqueue } from '../../jobs/job.ts'
import { addressesIn, isAddress } from './rules.ts'
import * as invitations from './store.ts'

// What is the same for invitations to a group and to a project.

const Invitation = t.Object({
  id: t.Integer(),
  invite_email: t.String(),
  created_at: timestamp(),
  access_level: t.Integer(),
  expires_at: nullable(timestamp()),
  user_name: nullable(t.String()),
  created_by_name: nullable(t.String()),
})
const texts = t.Record(t.String(), t.String())
const Outcome = t.Object({
  status: t.String(),
  message: t.Optional(t.Unsafe<string | Record<string, string>>({ anyOf: [t.String(), texts] })),
  queued_users: t.Optional(texts),
})

type Here = Has<{ source: Source; actor: Actor }>

const present = (row: invitations.Invitation): Static<typeof Invitation> => ({
  id: row.id,
  invite_email: row.email,
  created_at: row.created_at.toISOString(),
  access_level: row.access_level,
  expires_at: row.expires_at === null ? null : `${row.expires_at}T00:00:00.000Z`,
  // Nobody is known by the address yet: else it were a member.
  user_name: null,
  created_by_name: row.created_by_name,
})

export const listing = {
  params: t.Object({ query: t.Optional(t.String({ description: 'The whole address' })) }),
  handle: async ({
    db,
    source,
    params,
    page,
  }: Here & { readonly params: { readonly query?: string }; readonly page: PageRequest }) => {
    const { size, offset } = page
    const found = await invitations.list(db, source, { email: params.query ?? '', size, offset })
    return { ...found, items: found.items.map(present) }
  },
  returns: pageOf(Invitation),
} as const

const level = { type: 'integer', enum: LEVELS } as const

interface Wanted {
  readonly email?: string[]
  readonly user_id?: number[]
  readonly access_level: number
  readonly expires_at?: string
  readonly member_role_id?: number
}

/** A parameter's fault, and so found before anything is looked for. */
export const wellAddressed: Gate<'checks', never, { params: { readonly email?: string[] } }, object> = checks(
  {
    says: 'addresses that are mail addresses',
    refuses: () => badParams(['email contains an invalid email address']),
    holds: ({ params }: Has<{ params: { readonly email?: string[] } }>) =>
      addressesIn(params.email).every(isAddress),
  },
)

const nobody = (): ReturnType<typeof refused> =>
  refused('400 Bad request - Must provide either email or user_id as a parameter')

const noSuchRole = (): ReturnType<typeof badParams> =>
  badParams(['member_role_id does not have a valid value'])

export const inviting = {
  params: t.Object({
    email: t.Optional(listOf(t.String())),
    user_id: t.Optional(listOf(t.Integer())),
    access_level: t.Unsafe<number>(level),
    expires_at: t.Optional(timestamp()),
    invite_source: t.Optional(t.String({ default: 'invitations-api' })),
    member_role_id: t.Optional(
      t.Integer({ description: 'A role of one’s own making: there are none, so that any is refused' }),
    ),
  }),
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
      expires_at: params.expires_at?.slice(0, 10) ?? null,
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

/** Whoever was named by an address is spoken of by that address. */
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
  { db, actor, config, source, vault }: Here,
  emails: readonly string[],
  { access_level, expires_at }: Wish,
): Promise<[string, string][]> {
  if (emails.length === 0) return []
  const tokens = emails.map(() => makeToken(''))
  const made = await invitations.insert(db, source.kind, {
    emails,
    digests: tokens.map(digestOf),
    sealed: tokens.map((token) => vault.seal(token)),
    source_id: source.id,
    access_level,
    expires_at,
    by: actor.id,
  })
  if (made.length > 0 && config.smtpUrl !== undefined)
    await enqueue(db, sendInvitations, { ids: made.map(({ id }) => id) })
  const invited = new Set(made.map(({ email }) => email))
  return emails
    .filter((email) => !invited.has(email))
    .map((email) => [email, 'Invite email has already been taken'])
}

/** An invitation that the caller may touch; one as Owner is the owners'. */
export const invitation = loads({
  param: 'email',
  type: t.String({ description: 'The address' }),
  as: 'invitation',
  says: 'an invitation that was not accepted yet',
  find: ({ db, source }: Here, email) => invitations.find(db, source, email),
})
type WithOne = Here & { readonly invitation: invitations.Invitation }

export const touchable: Gate<
  'allows',
  never,
  { source: Source; actor: Actor; invitation: invitations.Invitation },
  object
> = {
  kind: 'allows',
  says: 'who may give the level that the invitation gives',
  refuses: forbidden,
  pass: ({ actor, source, invitation }) =>
    manages(actor, source) && maySetLevel(actor, source, invitation.access_level) ? {} : undefined,
}

const noChange = (): ReturnType<typeof refused> => refused('400 Bad request')
const past = (): ReturnType<typeof invalid> => invalid({ expires_at: ['cannot be a date in the past'] })
const notIncluded = (): ReturnType<typeof invalid> =>
  invalid({ access_level: ['is not included in the list'] })

export const changing = {
  params: t.Object({
    access_level: t.Optional(t.Unsafe<number>(level)),
    expires_at: t.Optional(nullable(timestamp())),
  }),
  handle: async ({
    db,
    actor,
    source,
    invitation,
    params,
    now,
  }: WithOne & {
    readonly params: { readonly access_level?: number; readonly expires_at?: string | null }
  }): Promise<{ expires_at: string | null; access_level: number }> => {
    const { access_level = invitation.access_level } = params
    if (params.access_level === undefined && params.expires_at === undefined) throw noChange()
    if (!maySetLevel(actor, source, access_level)) throw forbidden()
    const expires_at =
      params.expires_at === undefined ? invitation.expires_at : (params.expires_at?.slice(0, 10) ?? null)
    const fault = faultOf(source, { access_level, expires_at }, now.toISOString().slice(0, 10))
    if (fault !== undefined) throw invalid({ [fault.field]: [fault.text] })
    const changed = await invitations.update(db, { id: invitation.id, access_level, expires_at })
    if (changed === undefined) throw noSuchRecord()
    return { expires_at: changed.expires_at, access_level: changed.access_level }
  },
  returns: t.Object({
    expires_at: nullable(t.Unsafe<string>({ type: 'string', format: 'date' })),
    access_level: t.Integer(),
  }),
  refuses: [noChange, forbidden, past, notIncluded],
} as const

const notRemoved = (): ReturnType<typeof conflict> => conflict()

export const removing = {
  handle: async ({ db, invitation }: WithOne): Promise<null> => {
    if ((await invitations.remove(db, invitation.id)) === 0) throw notRemoved()
    return null
  },
  returns: nothing,
  refuses: [notRemoved],
} as const
