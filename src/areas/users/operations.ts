import { Type as t } from 'typebox'
import { administrator, anyone, signedIn } from '../../access/gates/gates.ts'
import { setPassword } from '../../access/passwords.ts'
import { isInternal } from '../../core/people/internal_users.ts'
import { ownsAlone, removeUserAndAll } from '../../core/places/user_removal.ts'
import { attributeFilter } from '../../core/people/custom_attributes.ts'
import * as core from '../../core/people/users.ts'
import type { Db } from '../../db/db.ts'
import { existing } from '../../db/rows.ts'
import { violates } from '../../db/errors.ts'
import { nothing, operation, pageOf } from '../../http/operation.ts'
import { badParams, conflict, forbidden, invalid, type Problem } from '../../http/problems.ts'
import { attributesParam, oneOf, timestamp } from '../../http/params/schema.ts'
import { FullUser, SomeUser, presentFully, presentPublicly } from '../../records/people/person.ts'
import { presentUser } from '../../records/people/user.ts'
import { changesFrom, userParams } from './changes.ts'
import { signedInToLook, user } from './gates.ts'
import { setIdentity } from './identity_store.ts'
import { faultsOf } from './rules.ts'
import * as users from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

export * from './email_operations.ts'
export * from './membership_operations.ts'
export * from './state_operations.ts'
export * from './status_operations.ts'
export * from './token_operations.ts'

const flag = t.Optional(t.Boolean())
const listRefused = (): Problem => forbidden('Not authorized to access /api/v4/users')
const unpaired = (): Problem => badParams(['extern_uid, provider provide all or none of parameters'])

interface Pair {
  readonly extern_uid?: string | undefined
  readonly provider?: string | undefined
}
function checkPair({ extern_uid, provider }: Pair): void {
  if ((extern_uid === undefined) !== (provider === undefined)) throw unpaired()
}

export const listUsers = operation({
  method: 'GET',
  path: '/users',
  summary: 'List users; without a token, by exact user name',
  published: true,
  scopes: ['read_user'],
  params: t.Object({
    username: t.Optional(t.String({ description: 'The whole user name' })),
    search: t.Optional(t.String({ description: 'Part of name or user name, or a whole address' })),
    public_email: t.Optional(t.String()),
    active: flag,
    exclude_active: flag,
    blocked: flag,
    humans: flag,
    exclude_humans: flag,
    exclude_internal: flag,
    external: flag,
    exclude_external: flag,
    without_project_bots: flag,
    saml_provider_id: t.Optional(t.Integer({ description: 'Finds nobody: nobody comes from elsewhere' })),
    // For administrators; others are not heard.
    admins: flag,
    without_projects: flag,
    two_factor: t.Optional(oneOf(['enabled', 'disabled'], { description: 'Nobody has it enabled' })),
    extern_uid: t.Optional(t.String({ description: 'With `provider`' })),
    provider: t.Optional(t.String({ description: 'With `extern_uid`' })),
    custom_attributes: attributesParam,
    created_after: t.Optional(timestamp()),
    created_before: t.Optional(timestamp()),
    order_by: oneOf(users.ORDERS, { default: 'id' }),
    sort: oneOf(['asc', 'desc'], { default: 'desc' }),
  }),
  gates: [anyone],
  handle: async ({ db, actor, config, params, page }) => {
    const { order_by: order, sort, ...filters } = params
    if (actor === null && (filters.username ?? '') === '') throw listRefused()
    const { two_factor, extern_uid, provider, saml_provider_id, custom_attributes, ...known } = filters
    const { admins, without_projects, created_after, created_before, ...forAll } = known
    const admin = actor?.admin === true
    checkPair(params)
    // No operation gives users custom attributes.
    const isNobody =
      admin && (two_factor === 'enabled' || attributeFilter(actor, custom_attributes) !== undefined)
    if (isNobody || saml_provider_id !== undefined) return { items: [], total: 0 }
    const found = await users.list(
      db,
      admin
        ? { ...forAll, admins, without_projects, created_after, created_before, extern_uid, provider }
        : forAll,
      admin ? { order, desc: sort === 'desc', anyEmail: true } : { order: 'id', desc: true, anyEmail: false },
      { ...page },
    )
    const present = admin ? presentFully : presentUser
    return presentPage(found, (row) => present(row, { config }))
  },
  returns: pageOf(SomeUser),
  refuses: [listRefused, unpaired],
})

export const getUser = operation({
  method: 'GET',
  path: '/users/:id',
  summary: 'Get a user; administrators see more fields',
  published: true,
  scopes: ['read_user'],
  first: [signedInToLook],
  gates: [user],
  handle: async ({ db, actor, config, user }) => {
    if (actor.admin) {
      const person = await users.find(db, user.id)
      if (person !== undefined) return presentFully(person, { config })
    }
    const hides = user.private_profile && user.id !== actor.id
    return hides ? presentUser(user, { config }) : presentPublicly(user, { config })
  },
  returns: SomeUser,
})

const taken = (what: 'Email' | 'Username') => (): Problem => conflict(`${what} has already been taken`)
const knownElsewhere = (): Problem => invalid({ 'identities.extern_uid': ['has already been taken'] })
const refusals = [
  taken('Email'),
  taken('Username'),
  () => invalid({ email: ['is invalid'] }),
  unpaired,
  knownElsewhere,
]

/** Keeps what a provider calls the user, where both are given. */
async function identify(db: Db, id: number, { extern_uid = '', provider = '' }: Pair): Promise<void> {
  if (extern_uid === '' || provider === '') return
  await setIdentity(db, { user_id: id, extern_uid, provider }).catch((error: unknown) => {
    throw violates(error, 'user_identities_extern_uid_key') ? knownElsewhere() : error
  })
}

/** For a write that gives somebody a name or an address that may be another's. */
const orTaken = async <Result>(write: Promise<Result>): Promise<Result> =>
  write.catch((error: unknown) => {
    const what = core.takenName(error)
    throw what === undefined ? error : taken(what)()
  })

function check(said: Parameters<typeof faultsOf>[0]): void {
  const faults = faultsOf(said)
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

const notOwned = (): Problem => invalid({ public_email: ['is not an email you own'] })

export const createUser = operation({
  method: 'POST',
  path: '/users',
  summary: 'Create a user with a namespace of the same name',
  published: true,
  first: [signedIn, administrator],
  params: t.Object(
    {
      email: t.String(),
      username: t.String({ minLength: 1 }),
      name: t.String({ minLength: 1 }),
      reset_password: flag,
      force_random_password: flag,
      skip_confirmation: t.Optional(t.Boolean({ description: 'The address is known to be the user’s' })),
      ...userParams,
    },
    { atLeastOne: ['password', 'reset_password', 'force_random_password'] },
  ),
  gates: [],
  handle: async ({ db, actor, config, settings, params }) => {
    check(params)
    checkPair(params)
    const { username, name, email, admin = false, external = false, skip_confirmation } = params
    const confirmed = skip_confirmation ?? settings.get('email_confirmation_setting') === 'off'
    const made = await orTaken(
      core.create(db, { username, name, email, admin, external, confirmed, created_by_id: actor.id }),
    )
    const changes = changesFrom({
      can_create_group: settings.get('can_create_group'),
      projects_limit: settings.get('default_projects_limit'),
      ...params,
      username: undefined,
      name: undefined,
      email: undefined,
    })
    await users.update(db, made.id, changes)
    await identify(db, made.id, params)
    if (params.password !== undefined && params.force_random_password !== true)
      await setPassword(db, made.id, params.password)
    if (params.public_email && !(await users.hasEmail(db, made.id, params.public_email))) throw notOwned()
    return presentFully(existing(await users.find(db, made.id)), { config })
  },
  returns: FullUser,
  refuses: [...refusals, notOwned],
})

export const updateUser = operation({
  method: 'PUT',
  path: '/users/:id',
  summary: 'Change a user; namespace and projects follow the user name',
  published: true,
  first: [signedIn, administrator],
  params: t.Object({
    email: t.Optional(t.String()),
    username: t.Optional(t.String({ minLength: 1 })),
    name: t.Optional(t.String({ minLength: 1 })),
    skip_reconfirmation: t.Boolean({ default: true }),
    ...userParams,
  }),
  gates: [user],
  handle: async ({ db, config, user, params }) => {
    check({ ...params, username: params.username === user.username ? undefined : params.username })
    checkPair(params)
    const changes = changesFrom(params)
    await orTaken(users.update(db, user.id, changes))
    await identify(db, user.id, params)
    if (params.password !== undefined) await setPassword(db, user.id, params.password)
    const { public_email } = changes
    if (public_email && !(await users.hasEmail(db, user.id, public_email))) throw notOwned()
    return presentFully(existing(await users.find(db, user.id)), { config })
  },
  returns: FullUser,
  refuses: [...refusals, notOwned],
})

const soleOwner = (): Problem => conflict('User cannot be removed while is the sole-owner of a group')

export const deleteUser = operation({
  method: 'DELETE',
  path: '/users/:id',
  summary: 'Delete a user; contributions move to the ghost user unless `hard_delete`',
  published: true,
  first: [signedIn, administrator],
  params: t.Object({ hard_delete: t.Boolean({ default: false }) }),
  gates: [user],
  handle: async ({ db, actor, user, params }) => {
    if (isInternal(user)) throw forbidden()
    if (!params.hard_delete && (await ownsAlone(db, user.id))) throw soleOwner()
    await removeUserAndAll(db, user.id, params.hard_delete, actor.id)
    return null
  },
  returns: nothing,
  refuses: [soleOwner, forbidden],
})
