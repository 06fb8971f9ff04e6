import { Type as t, type Static } from 'typebox'
import { signedIn } from '../../access/gates.ts'
import { loads, type Actor, type Has } from '../../http/gate.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { refused, unauthorized } from '../../http/problems.ts'
import { date, nullable, oneOf, timestamp } from '../../http/schema.ts'
import * as tokens from './store.ts'

const PersonalAccessToken = t.Object({
  id: t.Integer(),
  name: t.String(),
  revoked: t.Boolean(),
  created_at: timestamp(),
  scopes: t.Array(t.String()),
  user_id: t.Integer(),
  last_used_at: nullable(timestamp()),
  active: t.Boolean(),
  expires_at: nullable(date()),
})

const present = (token: tokens.Token): Static<typeof PersonalAccessToken> => ({
  id: token.id,
  name: token.name,
  revoked: token.revoked,
  created_at: token.created_at.toISOString(),
  scopes: token.scopes,
  user_id: token.user_id,
  last_used_at: token.last_used_at?.toISOString() ?? null,
  active: token.active,
  expires_at: token.expires_at,
})

export const listPersonalAccessTokens = operation({
  method: 'GET',
  path: '/personal_access_tokens',
  summary: "List one's own tokens; for administrators, everybody's",
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
    // Nobody but administrators asks for others, and who does is told no more than that.
    if (!actor.admin && user_id !== undefined && user_id !== actor.id) throw unauthorized()
    const shape = {
      user: !actor.admin || user_id !== undefined,
      state: state ?? 'any',
      revoked: revoked !== undefined,
      search: search !== '',
    } as const
    const found = await tokens.list(db, shape, {
      user_id: user_id ?? actor.id,
      revoked: revoked ?? false,
      search,
      limit: page.size,
      offset: page.offset,
    })
    return { ...found, items: found.items.map(present) }
  },
  returns: pageOf(PersonalAccessToken),
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
    if (!actor.admin && found?.user_id !== actor.id) throw unauthorized()
    return found
  },
})

export const getPersonalAccessToken = operation({
  method: 'GET',
  path: '/personal_access_tokens/:token_id',
  summary: 'Get a token, without the token itself',
  published: true,
  first: [signedIn],
  gates: [token],
  handle: async ({ token }) => present(token),
  returns: PersonalAccessToken,
})

export const getPresentedToken = operation({
  method: 'GET',
  path: '/personal_access_tokens/self',
  summary: 'Get the token that the request came with',
  published: true,
  scopes: ['read_user', 'read_repository', 'write_repository'],
  gates: [signedIn],
  handle: async ({ db, tokenId }) => {
    const found = tokenId === null ? undefined : await tokens.find(db, tokenId)
    if (found === undefined) throw unauthorized()
    return present(found)
  },
  returns: PersonalAccessToken,
})

const notRevoked = (): ReturnType<typeof refused> => refused('400 Bad request')

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
  summary: 'Revoke the token that the request came with',
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
