import { Type as t, type Static } from 'typebox'
import { asksForPromotions, maySetLevel } from '../../access/gates/member_gates.ts'
import { LEVELS, faultOf, type Source } from '../../core/people/membership.ts'
import { allows, loads, type Actor, type Has } from '../../http/gate.ts'
import { nothing, pageOf, type PageRequest } from '../../http/operation.ts'
import { conflict, forbidden, invalid, refused, type Problem } from '../../http/problems.ts'
import { date, moment, nullable } from '../../http/params/schema.ts'
import * as invitations from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

// Shared by invitations to groups and projects.

const Invitation = t.Object({
  id: t.Integer(),
  invite_email: t.String(),
  created_at: moment(),
  access_level: t.Integer(),
  expires_at: nullable(moment()),
  user_name: nullable(t.String()),
  created_by_name: nullable(t.String()),
})

type Here = Has<{ source: Source; actor: Actor }>

const present = (row: invitations.Invitation): Static<typeof Invitation> => ({
  id: row.id,
  invite_email: row.email,
  created_at: row.created_at,
  access_level: row.access_level,
  expires_at: row.expires_at === null ? null : `${row.expires_at}T00:00:00.000Z`,
  // The address belongs to no user yet: else a member were added.
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
    const found = await invitations.list(db, source, { email: params.query ?? '', ...page })
    return presentPage(found, present)
  },
  returns: pageOf(Invitation),
} as const

export const accessLevel = t.Unsafe<number>({ type: 'integer', enum: LEVELS })

/** An invitation that the caller may touch; one as Owner is the owners'. */
export const invitation = loads({
  param: 'email',
  type: t.String({ description: 'The address' }),
  as: 'invitation',
  says: 'an invitation that was not accepted yet',
  find: ({ db, source }: Here, email) => invitations.find(db, source, email),
})
type WithOne = Here & { readonly invitation: invitations.Invitation }

export const touchable = allows({
  says: 'the right to grant the access level of the invitation',
  refuses: forbidden,
  holds: ({ actor, source, invitation }: WithOne) => maySetLevel(actor, source, invitation.access_level),
})

const noChange = (): Problem => refused('400 Bad request')
const past = (): Problem => invalid({ expires_at: ['cannot be a date in the past'] })

export const changing = {
  params: t.Object({
    access_level: t.Optional(accessLevel),
    expires_at: t.Optional(nullable(date())),
  }),
  handle: async (
    ctx: WithOne & {
      readonly params: { readonly access_level?: number; readonly expires_at?: string | null }
    },
  ): Promise<{ expires_at: string | null; access_level: number }> => {
    const { db, actor, source, invitation, params, now } = ctx
    const { access_level = invitation.access_level } = params
    if (params.access_level === undefined && params.expires_at === undefined) throw noChange()
    if (!maySetLevel(actor, source, access_level)) throw forbidden()
    const expires_at = params.expires_at === undefined ? invitation.expires_at : params.expires_at
    const fault = faultOf(source, { access_level, expires_at }, now.toISOString().slice(0, 10))
    if (fault !== undefined) throw invalid({ [fault.field]: [fault.text] })
    const changed = await invitations.update(db, {
      id: invitation.id,
      access_level,
      expires_at,
      waits: asksForPromotions(ctx, actor),
    })
    return { expires_at: changed.expires_at, access_level: changed.access_level }
  },
  returns: t.Object({
    expires_at: nullable(t.Unsafe<string>({ type: 'string', format: 'date' })),
    access_level: t.Integer(),
  }),
  refuses: [noChange, forbidden, past, invalid({ access_level: ['is not included in the list'] })],
} as const

const notRemoved = (): Problem => conflict()

export const removing = {
  handle: async ({ db, invitation }: WithOne): Promise<null> => {
    if ((await invitations.remove(db, invitation.id)) === 0) throw notRemoved()
    return null
  },
  returns: nothing,
  refuses: [notRemoved],
} as const
