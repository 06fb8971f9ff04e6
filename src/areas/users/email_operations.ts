import { Type as t, type Static } from 'typebox'
import { administrator, signedIn } from '../../access/gates/gates.ts'
import type { User } from '../../db/schema/tables.ts'
import { loads, type Actor, type Context, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { invalid, notFound, type Problem } from '../../http/problems.ts'
import { nullable, moment } from '../../http/params/schema.ts'
import * as emails from './email_store.ts'
import { user } from './gates.ts'
import { faultsOf } from './rules.ts'

const Email = t.Object({
  id: t.Integer(),
  email: t.String(),
  confirmed_at: nullable(moment()),
})
const present = ({ id, email, confirmed_at }: emails.Email): Static<typeof Email> => ({
  id,
  email,
  confirmed_at: confirmed_at,
})
const list = async (
  { db, page }: Context & { readonly page: { readonly limit: number; readonly offset: number } },
  userId: number,
): Promise<{ items: Static<typeof Email>[]; total: number | undefined }> => {
  const found = await emails.list(db, { user_id: userId, ...page })
  return { total: found.total, items: found.items.map(present) }
}

export const listEmailsOfUser = operation({
  method: 'GET',
  path: '/users/:id/emails',
  summary: 'List the email addresses of a user',
  published: true,
  first: [signedIn, administrator],
  gates: [user],
  handle: (ctx) => list(ctx, ctx.user.id),
  returns: pageOf(Email),
})

export const listOwnEmails = operation({
  method: 'GET',
  path: '/user/emails',
  summary: 'List the email addresses of the caller',
  published: true,
  scopes: ['read_user'],
  gates: [signedIn],
  handle: (ctx) => list(ctx, ctx.actor.id),
  returns: pageOf(Email),
})

const taken = (): Problem => invalid({ email: ['has already been taken'] })

async function add(
  { db }: Pick<Context, 'db'>,
  userId: number,
  given: { email: string; confirmed: boolean },
): Promise<Static<typeof Email>> {
  const faults = faultsOf({ email: given.email })
  if (Object.keys(faults).length > 0) throw invalid(faults)
  const row = await emails.insert(db, { user_id: userId, ...given }).catch((error: unknown) => {
    throw emails.isTaken(error) ? taken() : error
  })
  return present(row)
}

export const addEmailToUser = operation({
  method: 'POST',
  path: '/users/:id/emails',
  summary: 'Add an email address to a user',
  published: true,
  first: [signedIn, administrator],
  params: t.Object({
    email: t.String(),
    skip_confirmation: t.Optional(t.Boolean({ description: 'The address is known to be the user’s' })),
  }),
  gates: [user],
  handle: (ctx) => {
    const { email, skip_confirmation: confirmed = false } = ctx.params
    return add(ctx, ctx.user.id, { email, confirmed })
  },
  returns: Email,
  refuses: [taken],
})

export const addOwnEmail = operation({
  method: 'POST',
  path: '/user/emails',
  summary: 'Add an email address to the caller, confirmed by an administrator',
  published: true,
  first: [signedIn],
  params: t.Object({ email: t.String() }),
  gates: [],
  handle: (ctx) => add(ctx, ctx.actor.id, { email: ctx.params.email, confirmed: false }),
  returns: Email,
  refuses: [taken],
})

const says = 'an address of the user beside the first'
const missing = (): Problem => notFound('Email')
const emailOfUser = loads({
  param: 'email_id',
  type: t.Integer(),
  as: 'email',
  says,
  missing,
  find: ({ db, user }: Has<{ user: User }>, id) => emails.find(db, user.id, id),
})
const ownEmail = loads({
  param: 'email_id',
  type: t.Integer(),
  as: 'email',
  says,
  missing,
  find: ({ db, actor }: Has<{ actor: Actor }>, id) => emails.find(db, actor.id, id),
})

export const deleteEmailOfUser = operation({
  method: 'DELETE',
  path: '/users/:id/emails/:email_id',
  summary: 'Delete an email address of a user',
  published: true,
  first: [signedIn, administrator],
  gates: [user, emailOfUser],
  handle: async ({ db, email }) => {
    await emails.remove(db, email.user_id, email.id)
    return null
  },
  returns: nothing,
})

export const getOwnEmail = operation({
  method: 'GET',
  path: '/user/emails/:email_id',
  summary: 'Get an email address of the caller',
  published: true,
  scopes: ['read_user'],
  first: [signedIn],
  gates: [ownEmail],
  handle: async ({ email }) => present(email),
  returns: Email,
})

export const deleteOwnEmail = operation({
  method: 'DELETE',
  path: '/user/emails/:email_id',
  summary: 'Delete an email address of the caller',
  published: true,
  first: [signedIn],
  gates: [ownEmail],
  handle: async ({ db, email }) => {
    await emails.remove(db, email.user_id, email.id)
    return null
  },
  returns: nothing,
})
