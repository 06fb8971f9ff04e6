import { Type as t, type Static } from 'typebox'
import { DEPLOY_TOKEN_PREFIX } from '../../access/presented_tokens.ts'
import { digestOf, makeToken } from '../../access/tokens.ts'
import * as deployTokens from '../../core/people/deploy_tokens.ts'
import type { Source } from '../../core/people/membership.ts'
import { presentPage } from '../../http/answers/pages.ts'
import { loads, type Context, type Has } from '../../http/gate.ts'
import { nothing, pageOf, type PageRequest } from '../../http/operation.ts'
import { filled, listOf, moment, oneOf } from '../../http/params/schema.ts'
import { invalid, type Problem } from '../../http/problems.ts'
import { DeployToken, presentDeployToken } from '../../records/people/deploy_token.ts'

// Shared by the deploy tokens of groups and projects.

/** Scopes of deploy tokens, as published. Registries of containers and virtual ones are not served. */
const SCOPES = [
  'read_repository',
  'read_registry',
  'write_registry',
  'read_package_registry',
  'write_package_registry',
  'read_virtual_registry',
  'write_virtual_registry',
] as const

export const filters = t.Object({
  active: t.Optional(t.Boolean({ description: 'Tokens that last, or the others' })),
})
export const DeployTokens = pageOf(DeployToken)
const NewDeployToken = t.Object({ ...DeployToken.properties, token: t.String() })

const noScopes = (): Problem => invalid({ base: ["Scopes can't be blank"] })
const badUsername = (): Problem =>
  invalid({ username: ["can contain only letters, digits, '_', '-', '+', and '.'"] })

const params = t.Object({
  name: t.Unsafe<string>({ ...filled(), maxLength: 255 }),
  scopes: listOf(oneOf(SCOPES)),
  expires_at: t.Optional(t.Unsafe<string>(moment())),
  username: t.Optional(t.String({ maxLength: 255 })),
})

type Here = Has<{ source: Source }>

export const deployToken = loads({
  param: 'token_id',
  type: t.Integer(),
  as: 'deployToken',
  says: 'a deploy token of the project or group',
  find: ({ db, source }: Here, id) => deployTokens.find(db, source, id),
})
type One = Has<{ deployToken: deployTokens.DeployTokenRow }>
type Listing = Context & { readonly params: Static<typeof filters>; readonly page: PageRequest }

/** Presents a page of the tokens of `source`, or without one of all. */
export const listTokens = async (ctx: Listing, source: Source | undefined) => {
  const found = await deployTokens.list(ctx.db, source, ctx.params.active, ctx.page)
  return presentPage(found, (row) => presentDeployToken(row, ctx))
}

export const listing = {
  params: filters,
  handle: (ctx: Listing & { readonly source: Source }) => listTokens(ctx, ctx.source),
  returns: DeployTokens,
} as const

export const showing = {
  handle: async (ctx: One) => presentDeployToken(ctx.deployToken, ctx),
  returns: DeployToken,
} as const

export const creating = {
  params,
  handle: async (ctx: Here & { readonly params: Static<typeof params> }) => {
    const { name, scopes, username, expires_at } = ctx.params
    if (scopes.length === 0) throw noScopes()
    if (username !== undefined && !/^[a-zA-Z0-9.+_-]+$/.test(username)) throw badUsername()
    const token = makeToken(DEPLOY_TOKEN_PREFIX)
    const row = await deployTokens.insert(ctx.db, ctx.source, {
      name,
      username,
      digest: digestOf(token),
      scopes: [...new Set(scopes)],
      expires_at: expires_at === undefined ? null : new Date(expires_at),
    })
    return { ...presentDeployToken(row, ctx), token }
  },
  returns: NewDeployToken,
  refuses: [noScopes, badUsername],
} as const

export const removing = {
  handle: ({ db, deployToken }: One) => deployTokens.remove(db, deployToken.id),
  returns: nothing,
} as const
