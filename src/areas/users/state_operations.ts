import { Type as t } from 'typebox'
import { administrator, signedIn } from '../../access/gates/gates.ts'
import { isInternal } from '../../core/people/internal_users.ts'
import { operation } from '../../http/operation.ts'
import { forbidden, type Problem } from '../../http/problems.ts'
import { nullable } from '../../http/params/schema.ts'
import { user } from './gates.ts'
import * as users from './store.ts'

// As published, who is in that state already is answered `null`, and who was brought there `true`.
const done = {
  published: true,
  first: [signedIn, administrator],
  gates: [user],
  returns: nullable(t.Boolean()),
  status: 201,
} as const

type Refusal = () => Problem
const blocksItself: Refusal = () => forbidden('The API initiating user cannot be blocked by the API')
const internal: Refusal = () => forbidden('An internal user cannot be blocked')

export const blockUser = operation({
  method: 'POST',
  path: '/users/:id/block',
  summary: 'Block a user; all tokens stop working at once',
  ...done,
  handle: async ({ db, actor, user }) => {
    if (user.id === actor.id) throw blocksItself()
    if (isInternal(user)) throw internal()
    if (user.state === 'blocked') return null
    await users.setState(db, user.id, 'blocked')
    return true
  },
  refuses: [blocksItself, internal],
})

const deactivated: Refusal = () => forbidden('Deactivated users cannot be unblocked by the API')

export const unblockUser = operation({
  method: 'POST',
  path: '/users/:id/unblock',
  summary: 'Unblock a user',
  ...done,
  handle: async ({ db, user }) => {
    if (user.state === 'deactivated') throw deactivated()
    if (user.state === 'active') return false
    await users.setState(db, user.id, 'active')
    return true
  },
  refuses: [deactivated],
})

const isBlocked: Refusal = () => forbidden('A blocked user must be unblocked to be activated')

export const activateUser = operation({
  method: 'POST',
  path: '/users/:id/activate',
  summary: 'Activate a user',
  ...done,
  handle: async ({ db, user }) => {
    if (user.state === 'blocked') throw isBlocked()
    await users.setState(db, user.id, 'active')
    return true
  },
  refuses: [isBlocked],
})

const cannotDeactivate: Refusal = () => forbidden('A blocked user cannot be deactivated by the API')
const notInternal: Refusal = () => forbidden('Internal users cannot be deactivated')
const recent: Refusal = () =>
  forbidden(
    'The user you are trying to deactivate has been active in the past 90 days and cannot be deactivated',
  )
const QUIET = 90 * 86_400_000

export const deactivateUser = operation({
  method: 'POST',
  path: '/users/:id/deactivate',
  summary: 'Deactivate a user without activity for 90 days',
  ...done,
  handle: async ({ db, now, user }) => {
    if (user.state === 'deactivated') return null
    if (user.state === 'blocked') throw cannotDeactivate()
    if (isInternal(user)) throw notInternal()
    const person = await users.find(db, user.id)
    const seen = Date.parse(person?.last_activity_on ?? '')
    if (seen > now.getTime() - QUIET) throw recent()
    await users.setState(db, user.id, 'deactivated')
    return true
  },
  refuses: [cannotDeactivate, notInternal, recent],
})
