import { Type as t } from 'typebox'
import { signedIn } from '../../access/gates/gates.ts'
import { alreadyRevoked, pastExpiry, rotateToken } from '../../access/token_making.ts'
import * as tokens from '../../core/people/access_tokens.ts'
import { loads, type Actor, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { refused, unauthorized, type Problem } from '../../http/problems.ts'
import { date, oneOf } from '../../http/params/schema.ts'
import { AccessToken, NewAccessToken, presentToken } from '../../records/people/access_token.ts'
import { presentPage } from '../../http/answers/pages.ts'

export const listPersonalAccessTokens = operation({
  method: 'GET',
  path: '/personal_access_tokens',
  summary: 'List the tokens of the caller; for administrators, of all users',
  published: true,
  params: t.Object({
    user_id: t.Optional(t.Integer()),
    state: t.Optional(oneOf(['active', 'inactive'])),
    revoked: t.Optional(t.Boolean()),
    search: t.Optional(t.String({ description: 'Part of the name' })),
  }),
  gates: [signedIn],
  handle: async ({ db, actor, params, page }) => {
    const { user_id, state, revoked, search = '' } = params
    // Filters by other users need an administrator; the refusal reveals nothing more.
    if (!actor.admin && user_id !== undefined && user_id !== actor.id) throw unauthorized()
    const shape = {
      kind: 'personal',
      one: !actor.admin || user_id !== undefined,
      state: state ?? 'any',
      revoked: revoked !== undefined,
      search: search !== '',
    } as const
    const found = await tokens.list(db, shape, {
      owner_id: user_id ?? actor.id,
      revoked: revoked ?? false,
      search,
      ...page,
    })
    return presentPage(found, presentToken)
  },
  returns: pageOf(AccessToken),
  refuses: [unauthorized],
})

type Signed = Has<{ actor: Actor }>

/** Only administrators learn whether a token is there that is not theirs: to others it is as good as another's. */
const token = loads({
  param: 'token_id',
  type: t.Integer(),
  as: 'token',
  says: 'a token of the caller; for administrators, any',
  find: async ({ db, actor }: Signed, id) => {
    const found = await tokens.find(db, id)
    const own = found?.user_id === actor.id && !found.impersonation
    if (!actor.admin && !own) throw unauthorized()
    return found
  },
})

export const getPersonalAccessToken = operation({
  method: 'GET',
  path: '/personal_access_tokens/:token_id',
  summary: 'Get a token, without its text',
  published: true,
  first: [signedIn],
  gates: [token],
  handle: async ({ token }) => presentToken(token),
  returns: AccessToken,
})

export const getPresentedToken = operation({
  method: 'GET',
  path: '/personal_access_tokens/self',
  summary: 'Get the token of the request',
  published: true,
  scopes: ['read_user', 'read_repository', 'write_repository'],
  gates: [signedIn],
  handle: async ({ db, tokenId }) => {
    const found = tokenId === null ? undefined : await tokens.find(db, tokenId)
    if (found === undefined) throw unauthorized()
    return presentToken(found)
  },
  returns: AccessToken,
})

const notRevoked = (): Problem => refused('400 Bad request')

export const revokePersonalAccessToken = operation({
  method: 'DELETE',
  path: '/personal_access_tokens/:token_id',
  summary: 'Revoke a token',
  published: true,
  first: [signedIn],
  gates: [token],
  handle: async ({ db, token }) => {
    if ((await tokens.revoke(db, token.id)) === 0) throw notRevoked()
    return null
  },
  returns: nothing,
  refuses: [notRevoked],
})

export const revokePresentedToken = operation({
  method: 'DELETE',
  path: '/personal_access_tokens/self',
  summary: 'Revoke the token of the request',
  published: true,
  scopes: ['read_user', 'read_api', 'read_repository', 'write_repository'],
  gates: [signedIn],
  handle: async ({ db, tokenId }) => {
    if (tokenId === null || (await tokens.revoke(db, tokenId)) === 0) throw notRevoked()
    return null
  },
  returns: nothing,
  refuses: [notRevoked],
})

const rotation = {
  params: t.Object({
    expires_at: t.Optional(date()),
  }),
  returns: NewAccessToken,
  status: 200,
  refuses: [alreadyRevoked, pastExpiry],
} as const

export const rotatePersonalAccessToken = operation({
  method: 'POST',
  path: '/personal_access_tokens/:token_id/rotate',
  summary: 'Rotate a token; the new one expires in a week by default',
  published: true,
  first: [signedIn],
  gates: [token],
  handle: async (ctx) => {
    const made = await rotateToken(ctx, ctx.token, ctx.params.expires_at)
    return { ...presentToken(made.row), token: made.token }
  },
  ...rotation,
})

export const rotatePresentedToken = operation({
  method: 'POST',
  path: '/personal_access_tokens/self/rotate',
  summary: 'Rotate the token of the request',
  published: true,
  gates: [signedIn],
  handle: async (ctx) => {
    const found = ctx.tokenId === null ? undefined : await tokens.find(ctx.db, ctx.tokenId)
    if (found === undefined) throw unauthorized()
    const made = await rotateToken(ctx, found, ctx.params.expires_at)
    return { ...presentToken(made.row), token: made.token }
  },
  ...rotation,
})
