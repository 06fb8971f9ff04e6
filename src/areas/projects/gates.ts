import { Type as t } from 'typebox'
import { violates } from '../../db/errors.ts'
import { loads, type Context } from '../../http/gate.ts'
import { notFound } from '../../http/problems.ts'
import { findOwner } from './store.ts'

/** A user with a personal namespace. */
export const user = loads({
  param: 'user_id',
  type: t.String({ description: 'The id or the name of the user' }),
  as: 'owner',
  says: 'a user',
  missing: () => notFound('User'),
  find: ({ db }: Context, ref) => findOwner(db, ref),
})

const PATH_KEYS = ['routes_pkey', 'projects_full_path_key']

/** Whether another project has the name or the path already. */
export const isTaken = (error: unknown): boolean =>
  violates(error, 'projects_name_key') || PATH_KEYS.some((key) => violates(error, key))

export const TAKEN = ['has already been taken']

/** The taken field, after a constraint violation that allows no further query. */
export const takenIn = (error: unknown): Record<string, string[]> =>
  violates(error, 'projects_name_key') ? { name: TAKEN } : { path: TAKEN }

/** The constraint that a fork is no more visible than its source. */
export const FORK_VISIBILITY = 'projects_fork_visibility'
