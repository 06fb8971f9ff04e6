import { Type as t } from 'typebox'
import { signedIn } from '../../access/gates.ts'
import { UserBasic, presentUser } from '../../records/user.ts'
import { operation } from '../../http/operation.ts'
import { nullable, timestamp } from '../../http/schema.ts'
import * as user from './store.ts'

const CurrentUser = t.Object({
  ...UserBasic.properties,
  created_at: timestamp(),
  bot: t.Boolean(),
  external: t.Boolean(),
  email: t.String(),
  commit_email: t.String(),
  public_email: nullable(t.String()),
  two_factor_enabled: t.Boolean(),
  identities: t.Array(t.Object({})),
  // For administrators only, of themselves.
  is_admin: t.Optional(t.Boolean()),
  namespace_id: t.Optional(nullable(t.Integer())),
})

export const getCurrentUser = operation({
  method: 'GET',
  path: '/user',
  summary: 'Get the user whose token this is',
  published: true,
  scopes: ['read_user'],
  gates: [signedIn],
  handle: async ({ db, actor, config }) => {
    const row = await user.find(db, actor.id)
    if (row === undefined) throw new Error('a user went away while signed in')
    return {
      ...presentUser(row, { config }),
      created_at: row.created_at.toISOString(),
      bot: row.user_type !== 'human',
      external: row.external,
      email: row.email,
      commit_email: row.email,
      // What there is no way to set yet: no address is shown to others, nobody has a second factor or signs in from elsewhere.
      public_email: null,
      two_factor_enabled: false,
      identities: [],
      ...(row.admin && { is_admin: true, namespace_id: row.namespace_id }),
    }
  },
  returns: CurrentUser,
})
