import { Type as t } from 'typebox'
import { administrator, signedIn } from '../../access/gates/gates.ts'
import { issueToken, noScopes, pastExpiry } from '../../access/token_making.ts'
import { SCOPES, type Scope } from '../../access/tokens.ts'
import * as tokens from '../../core/people/access_tokens.ts'
import * as users from '../../core/people/users.ts'
import { loads, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { forbidden, notFound, refused, type Problem } from '../../http/problems.ts'
import { date, listOf, oneOf } from '../../http/params/schema.ts'
import type { User } from '../../db/schema/tables.ts'
import { AccessToken, NewAccessToken, presentToken } from '../../records/people/access_token.ts'
import { userById } from './gates.ts'
import { presentPage } from '../../http/answers/pages.ts'

const wanted = {
  name: t.String({ minLength: 1, maxLength: 255 }),
  description: t.Optional(t.String({ maxLength: 255 })),
  expires_at: t.Optional(date()),
}

export const createPersonalAccessToken = operation({
  method: 'POST',
  path: '/users/:user_id/personal_access_tokens',
  summary: 'Create a token for a user, shown once; it expires in a year by default',
  published: true,
  first: [signedIn, administrator],
  params: t.Object({ ...wanted, scopes: listOf(oneOf(SCOPES)) }),
  gates: [userById],
  handle: async (ctx) => {
    const made = await issueToken(ctx, { ...ctx.params, user_id: ctx.user.id })
    return { ...presentToken(made.row), token: made.token }
  },
  returns: NewAccessToken,
  refuses: [pastExpiry, noScopes],
})

/** Scopes of a token that a token may create: as published, next to none. */
const OWN_SCOPES = ['k8s_proxy'] as const satisfies readonly Scope[]

export const createOwnPersonalAccessToken = operation({
  method: 'POST',
  path: '/user/personal_access_tokens',
  summary: 'Create a token of few scopes for the caller, shown once; it expires in a day by default',
  published: true,
  first: [signedIn],
  params: t.Object({ ...wanted, scopes: listOf(oneOf(OWN_SCOPES)) }),
  gates: [],
  handle: async (ctx) => {
    const { db, actor, now, params } = ctx
    if ((await users.find(db, actor.id))?.user_type !== 'human') throw forbidden()
    const tomorrow = new Date(now.getTime() + 86_400_000).toISOString().slice(0, 10)
    const expires_at = params.expires_at ?? tomorrow
    const made = await issueToken(ctx, { ...params, expires_at, user_id: actor.id })
    return { ...presentToken(made.row), token: made.token }
  },
  returns: NewAccessToken,
  refuses: [pastExpiry, noScopes],
})

const ImpersonationToken = t.Object({ ...AccessToken.properties, impersonation: t.Boolean() })
const present = (row: tokens.Token): ReturnType<typeof presentToken> & { impersonation: boolean } => ({
  ...presentToken(row),
  impersonation: row.impersonation,
})

export const listImpersonationTokens = operation({
  method: 'GET',
  path: '/users/:user_id/impersonation_tokens',
  summary: 'List the impersonation tokens of a user',
  published: true,
  first: [signedIn, administrator],
  params: t.Object({ state: oneOf(['all', 'active', 'inactive'], { default: 'all' }) }),
  gates: [userById],
  handle: async ({ db, user, params, page }) => {
    const { state } = params
    const shape: tokens.ListShape = {
      kind: 'impersonation',
      one: true,
      state: state === 'all' ? 'any' : state,
      revoked: false,
      search: false,
    }
    const filters = { owner_id: user.id, revoked: false, search: '', ...page }
    const found = await tokens.list(db, shape, filters)
    return presentPage(found, present)
  },
  returns: pageOf(ImpersonationToken),
})

const impersonationToken = loads({
  param: 'impersonation_token_id',
  type: t.Integer(),
  as: 'token',
  says: 'an impersonation token of the user',
  missing: () => notFound('Impersonation Token'),
  find: ({ db, user }: Has<{ user: User }>, id) => tokens.findOf(db, 'impersonation', user.id, id),
})

export const getImpersonationToken = operation({
  method: 'GET',
  path: '/users/:user_id/impersonation_tokens/:impersonation_token_id',
  summary: 'Get an impersonation token, without its text',
  published: true,
  first: [signedIn, administrator],
  gates: [userById, impersonationToken],
  handle: async ({ token }) => present(token),
  returns: ImpersonationToken,
})

export const createImpersonationToken = operation({
  method: 'POST',
  path: '/users/:user_id/impersonation_tokens',
  summary: 'Create an impersonation token, shown once',
  published: true,
  first: [signedIn, administrator],
  params: t.Object({ ...wanted, scopes: listOf(oneOf(SCOPES)) }),
  gates: [userById],
  handle: async (ctx) => {
    const made = await issueToken(ctx, { ...ctx.params, user_id: ctx.user.id, impersonation: true })
    return { ...present(made.row), token: made.token }
  },
  returns: t.Object({ ...ImpersonationToken.properties, token: t.String() }),
  refuses: [pastExpiry, noScopes],
})

const notRevoked = (): Problem => refused('400 Bad request')

export const revokeImpersonationToken = operation({
  method: 'DELETE',
  path: '/users/:user_id/impersonation_tokens/:impersonation_token_id',
  summary: 'Revoke an impersonation token',
  published: true,
  first: [signedIn, administrator],
  gates: [userById, impersonationToken],
  handle: async ({ db, token }) => {
    if ((await tokens.revoke(db, token.id)) === 0) throw notRevoked()
    return null
  },
  returns: nothing,
  refuses: [notRevoked],
})
