import { Type as t, type Static } from 'typebox'
import { issueBotToken } from '../../access/bot_tokens.ts'
import { maySetLevel, manages } from '../../access/gates/member_gates.ts'
import { alreadyRevoked, noScopes, pastExpiry, rotateToken } from '../../access/token_making.ts'
import type { Scope } from '../../access/tokens.ts'
import * as tokens from '../../core/people/access_tokens.ts'
import type { Source } from '../../core/people/membership.ts'
import { ROLES } from '../../core/sight/roles.ts'
import * as users from '../../core/people/users.ts'
import { allows, type Actor, type Allows, type Gate, type Has } from '../../http/gate.ts'
import { nothing, pageOf, type PageRequest } from '../../http/operation.ts'
import { notFound, refused, rejected, unauthorized, type Problem } from '../../http/problems.ts'
import { date, listOf, oneOf } from '../../http/params/schema.ts'
import { AccessToken, presentToken } from '../../records/people/access_token.ts'
import * as bots from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

// Shared by the tokens of groups and projects.

const BotToken = t.Object({
  ...AccessToken.properties,
  access_level: t.Integer(),
  resource_type: t.String(),
  resource_id: t.Integer(),
})
const NewBotToken = t.Object({ ...BotToken.properties, token: t.String() })

type Here = Has<{ source: Source; actor: Actor }>

const present = (row: tokens.Token, { kind, id }: Source, level: number): Static<typeof BotToken> => ({
  ...presentToken(row),
  access_level: level,
  resource_type: kind,
  resource_id: id,
})
async function presentOne({ db, source }: Here, row: tokens.Token): Promise<Static<typeof BotToken>> {
  return present(row, source, (await bots.levels(db, [row.user_id])).get(row.user_id) ?? 0)
}

const least = { group: 'Owner in the group', project: 'Maintainer in the project' }

/** As published, who may not see tokens is told of no token at all. */
export const seesTokens = (kind: Source['kind']): Allows<{ source: Source; actor: Actor }> =>
  allows({
    level: kind === 'group' ? ROLES.owner : ROLES.maintainer,
    says: `at least ${least[kind]}`,
    refuses: unauthorized,
    holds: ({ actor, source }: Here) => manages(actor, source),
  })

export const makesTokens = (kind: Source['kind']): Allows<{ source: Source; actor: Actor }> =>
  allows({
    level: kind === 'group' ? ROLES.owner : ROLES.maintainer,
    says: `at least ${least[kind]}`,
    refuses: () => refused(`400 Bad request - User does not have permission to create ${kind} access token`),
    holds: ({ actor, source }: Here) => manages(actor, source),
  })

const TOKEN_ID = t.Integer()
type TokenGate = Gate<'loads', 'token_id', { source: Source }, { readonly token: tokens.Token }> & {
  readonly refuses: (asked?: string) => Problem
}
export const token = (kind: Source['kind']): TokenGate => {
  const missing = (id: string): Problem =>
    notFound(`Could not find ${kind} access token with token_id: ${id}`)
  return {
    kind: 'loads',
    param: 'token_id',
    type: TOKEN_ID,
    as: 'token',
    says: `a token of the ${kind}`,
    refuses: (asked?: string) => missing(asked ?? '0'),
    pass: async ({ db, source }, id: never) => {
      const found = await tokens.findOf(db, kind, source.id, id)
      if (found === undefined) throw missing(String(id))
      return { token: found }
    },
  }
}

const notABot = (): Problem => rejected('405 Method Not Allowed')

/** The token that the request came with, which must be one of the group or project. */
export const presentedToken = (
  kind: Source['kind'],
): Allows<{ source: Source; actor: Actor }, Presented> => ({
  kind: 'allows',
  says: `the bearer of a token of the ${kind}, about that token`,
  refuses: unauthorized,
  pass: async ({ db, actor, source, tokenId }) => {
    if (tokenId === null || (await users.find(db, actor.id))?.user_type !== 'project_bot') throw notABot()
    const token = await tokens.findOf(db, kind, source.id, tokenId)
    return token && { token }
  },
})
interface Presented {
  readonly token: tokens.Token
}

export const listing = {
  params: t.Object({
    state: t.Optional(oneOf(['active', 'inactive'])),
    search: t.Optional(t.String({ description: 'Part of the name' })),
  }),
  handle: async (
    ctx: Here & {
      readonly params: { readonly state?: 'active' | 'inactive'; readonly search?: string }
      readonly page: PageRequest
    },
  ) => {
    const { db, source, params, page } = ctx
    const { state = 'any', search = '' } = params
    const shape = { kind: source.kind, one: true, state, revoked: false, search: search !== '' } as const
    const filters = { owner_id: source.id, revoked: false, search, ...page }
    const found = await tokens.list(db, shape, filters)
    const levels = await bots.levels(
      db,
      found.items.map((row) => row.user_id),
    )
    return presentPage(found, (row) => present(row, source, levels.get(row.user_id) ?? 0))
  },
  returns: pageOf(BotToken),
} as const

type WithToken = Here & Presented

export const showing = {
  handle: async (ctx: WithToken) => presentOne(ctx, ctx.token),
  returns: BotToken,
} as const

const BOT_SCOPES = [
  ...(['api', 'read_api', 'read_repository', 'write_repository', 'create_runner'] as const),
  ...(['manage_runner', 'k8s_proxy', 'ai_features'] as const),
] satisfies readonly Scope[]
const LEVELS = [ROLES.guest, ROLES.planner, ROLES.reporter, ROLES.developer, ROLES.maintainer, ROLES.owner]

const noOwner = (kind: Source['kind']) => (): Problem =>
  refused(`400 Bad request - Could not provision owner access to ${kind} access token`)
const noBot = (kind: Source['kind']) => (): Problem =>
  refused(`400 Bad request - User does not have permission to create ${kind} access token`)

interface Wanted {
  readonly name: string
  readonly description?: string
  readonly scopes: Scope[]
  readonly access_level?: number
  readonly expires_at?: string
}

export const creating = (kind: Source['kind']) =>
  ({
    params: t.Object({
      name: t.String({ minLength: 1, maxLength: 255 }),
      description: t.Optional(t.String({ maxLength: 255 })),
      scopes: listOf(oneOf(BOT_SCOPES)),
      access_level: t.Unsafe<number>({ type: 'integer', enum: LEVELS, default: ROLES.maintainer }),
      expires_at: t.Optional(date()),
    }),
    handle: async (ctx: Here & { readonly params: Wanted }): Promise<Static<typeof NewBotToken>> => {
      const { db, actor, source, params } = ctx
      const { access_level = ROLES.maintainer, ...wanted } = params
      // A bot that could make bots would outlive its own token.
      if ((await users.find(db, actor.id))?.user_type !== 'human') throw noBot(kind)()
      if (!maySetLevel(actor, source, access_level)) throw noOwner(kind)()
      const made = await issueBotToken(ctx, source, { ...wanted, access_level })
      return { ...present(made.row, source, access_level), token: made.token }
    },
    returns: NewBotToken,
    refuses: [noOwner(kind), noBot(kind), pastExpiry, noScopes],
  }) as const

export const rotating = {
  params: t.Object({ expires_at: t.Optional(date()) }),
  handle: async (
    ctx: WithToken & { readonly params: { readonly expires_at?: string } },
  ): Promise<Static<typeof NewBotToken>> => {
    const { db, actor, source, token } = ctx
    const level = (await bots.levels(db, [token.user_id])).get(token.user_id) ?? 0
    // The token carries all rights of its bot.
    if (token.user_id !== actor.id && !maySetLevel(actor, source, level)) throw unauthorized()
    const made = await rotateToken(ctx, token, ctx.params.expires_at)
    return { ...present(made.row, source, level), token: made.token }
  },
  returns: NewBotToken,
  status: 200,
  refuses: [alreadyRevoked, pastExpiry, unauthorized],
} as const
export const rotatingPresented = { ...rotating, refuses: [...rotating.refuses, notABot] } as const
export const showingPresented = { ...showing, refuses: [notABot] } as const

const notRevoked = (): Problem => refused('400 Bad request')

export const revoking = {
  handle: async ({ db, token }: WithToken): Promise<null> => {
    if ((await tokens.revoke(db, token.id)) === 0) throw notRevoked()
    await bots.remove(db, token.user_id)
    return null
  },
  returns: nothing,
  refuses: [notRevoked],
} as const
