import { Type as t } from 'typebox'
import { flag } from '../../access/flags.ts'
import { administrator, signedIn } from '../../access/gates/gates.ts'
import { selfManaged } from '../../access/tiers.ts'
import { audit } from '../../core/settings/audit.ts'
import type { Db } from '../../db/db.ts'
import type { Actor, Has } from '../../http/gate.ts'
import { nothing, operation } from '../../http/operation.ts'
import { noSuchToken, unprocessable, type Problem } from '../../http/problems.ts'
import { TokenAnswer } from './entity.ts'
import { kindOf, type Found } from './kinds.ts'

const params = t.Object({ token: t.String({ description: 'The token as its owner has it' }) })

const unsupported = (): Problem => unprocessable('Token type not supported.')
const irrevocable = (): Problem => unprocessable('Unsupported token type')

type Asked = Has<{ actor: Actor; params: { token: string } }>

async function find(ctx: Asked): Promise<Found> {
  const { settings, params } = ctx
  const kind = kindOf(params.token, settings)
  if (kind === undefined) throw unsupported()
  const found = await kind.find(ctx, params.token)
  if (found === undefined) throw noSuchToken()
  return found
}

const record = (db: Db, author: Actor, act: 'introspected' | 'revoked', found: Found): Promise<void> =>
  audit(db, {
    author,
    entity: found.entity ?? { type: 'User', id: author.id },
    type: `admin_token_${act}`,
    message: `An administrator ${act} a token`,
    target: found.target,
  })

export const introspectToken = operation({
  method: 'POST',
  path: '/admin/token',
  summary: 'Identify a token by its text',
  first: [selfManaged, signedIn, administrator],
  params,
  gates: [],
  handle: async (ctx) => {
    const found = await find(ctx)
    await record(ctx.db, ctx.actor, 'introspected', found)
    return found.record
  },
  returns: TokenAnswer,
  status: 200,
  refuses: [noSuchToken, unsupported],
})

export const revokeToken = operation({
  method: 'DELETE',
  path: '/admin/token',
  summary: 'Revoke a token by its text',
  first: [selfManaged, flag('admin_token_revoke'), signedIn, administrator],
  params,
  gates: [],
  handle: async (ctx) => {
    const found = await find(ctx)
    if (found.revoke === undefined) throw irrevocable()
    await found.revoke(ctx.db)
    await record(ctx.db, ctx.actor, 'revoked', found)
    return null
  },
  returns: nothing,
  refuses: [noSuchToken, unsupported, irrevocable],
})
