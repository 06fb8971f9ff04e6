import { Type as t } from 'typebox'
import * as users from '../../core/people/users.ts'
import { loads, type Actor, type Allows, type Context } from '../../http/gate.ts'
import { forbidden, notFound } from '../../http/problems.ts'

const find = {
  type: t.Integer(),
  as: 'user',
  says: 'a user',
  missing: () => notFound('User'),
  find: ({ db }: Context, id: number) => users.find(db, id),
} as const

export const user = loads({ param: 'id', ...find })
/** The same where the published path calls it so. */
export const userById = loads({ param: 'user_id', ...find })

/** User look-ups need a token, with a refusal of their own. */
export const signedInToLook: Allows<object, { actor: Actor }> = {
  kind: 'allows',
  says: 'a signed-in user',
  refuses: () => forbidden('Not authorized!'),
  pass: ({ actor }) => (actor === null ? undefined : { actor }),
}
