import { Type as t } from 'typebox'
import { administrator, signedIn } from '../../access/gates/gates.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { oneOf } from '../../http/params/schema.ts'
import { userById } from './gates.ts'
import * as memberships from './membership_store.ts'

export const listMembershipsOfUser = operation({
  method: 'GET',
  path: '/users/:user_id/memberships',
  summary: 'List the memberships of a user',
  published: true,
  first: [signedIn, administrator],
  params: t.Object({ type: t.Optional(oneOf(['Project', 'Namespace'])) }),
  gates: [userById],
  handle: ({ db, user, params, page }) =>
    memberships.list(db, { type: params.type ?? 'any' }, { user_id: user.id, ...page }),
  returns: pageOf(
    t.Object({
      source_id: t.Integer(),
      source_name: t.String(),
      source_type: t.String(),
      access_level: t.Integer(),
    }),
  ),
})
