import { existing } from '../../db/rows.ts'
import { signedIn } from '../../access/gates/gates.ts'
import { operation } from '../../http/operation.ts'
import { OwnUser, presentFully, presentPrivately } from '../../records/people/person.ts'
import * as user from './store.ts'

export const getCurrentUser = operation({
  method: 'GET',
  path: '/user',
  summary: 'Get the current user',
  published: true,
  scopes: ['read_user'],
  gates: [signedIn],
  handle: async ({ db, actor, config }) => {
    const row = existing(await user.find(db, actor.id))
    return row.admin ? presentFully(row, { config }) : presentPrivately(row, { config })
  },
  returns: OwnUser,
})
