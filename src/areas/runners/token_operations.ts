import { Type as t, type Static } from 'typebox'
import { administrator, group, groupOwner, maintainer, project, signedIn } from '../../access/gates/gates.ts'
import { digestOf, makeToken } from '../../access/tokens.ts'
import {
  findRegistration,
  REGISTERED_PREFIX,
  REGISTRATION_PREFIX,
  setGroupToken,
  setRegistrationToken,
  type RunnerPlace,
} from '../../ci/runners/registration.ts'
import { findRunnerByDigest, noteContact, setRunnerToken } from '../../ci/runners/runners.ts'
import type { Db } from '../../db/db.ts'
import type { Runner } from '../../db/schema/ci.ts'
import type { Gate } from '../../http/gate.ts'
import { operation } from '../../http/operation.ts'
import { forbidden } from '../../http/problems.ts'
import { nullable } from '../../http/params/schema.ts'
import { createIn, INSTANCE, tooMany, type Home } from './creation.ts'
import { fields, newRunnerOf, noTags, TOKEN_PREFIX } from './fields.ts'
import { managesRunner, runner } from './gates.ts'
import { homeOf } from './homes.ts'

export const RunnerToken = t.Object({
  id: t.Integer(),
  token: t.String(),
  token_expires_at: nullable(t.String()),
})
const FreshToken = t.Object({ token: t.String(), token_expires_at: nullable(t.String()) })

const token = t.String({ description: 'The token of the runner itself' })

interface Presented {
  readonly params: { readonly token: string }
}
const bearsRegistration: Gate<'allows', never, Presented, { home: Home }> = {
  kind: 'allows',
  says: 'a registration token',
  refuses: forbidden,
  pass: async ({ db, params }) => {
    const place = await findRegistration(db, digestOf(params.token))
    const home = place && (await homeOf(db, place))
    return home && { home }
  },
}

export const createRegisteredRunner = operation({
  method: 'POST',
  path: '/runners',
  summary: 'Register a runner with a registration token; its own token is shown this once',
  published: true,
  ownToken: true,
  params: t.Object(
    {
      token: t.String({ description: 'The registration token of the instance, a group or a project' }),
      ...fields,
      active: t.Optional(t.Boolean({ deprecated: true, description: 'Deprecated: see `paused`' })),
      info: t.Optional(
        t.Record(t.String(), t.Unknown(), { description: 'About the process that runs jobs' }),
      ),
    },
    { atMostOne: ['paused', 'active'] },
  ),
  gates: [bearsRegistration],
  handle: async ({ db, home, params }) => {
    const kept = newRunnerOf(params)
    const { runner, token } = await createIn(db, home, { prefix: REGISTERED_PREFIX, creator_id: null, kept })
    await noteContact(db, runner, undefined)
    return { id: runner.id, token, token_expires_at: null }
  },
  returns: RunnerToken,
  refuses: [noTags, tooMany],
})

/** Gives a runner another token: the one before opens nothing any more. */
async function renew(db: Db, id: number): Promise<Static<typeof FreshToken>> {
  const fresh = makeToken(TOKEN_PREFIX)
  await setRunnerToken(db, id, digestOf(fresh))
  return { token: fresh, token_expires_at: null }
}

const bearsRunner: Gate<'allows', never, Presented, { bearer: Runner }> = {
  kind: 'allows',
  says: 'the token of a runner',
  refuses: forbidden,
  pass: async ({ db, params }) => {
    const bearer = await findRunnerByDigest(db, digestOf(params.token))
    return bearer && { bearer }
  },
}

export const rotatePresentedRunnerToken = operation({
  method: 'POST',
  path: '/runners/reset_authentication_token',
  summary: 'Replace the token of the runner that presents it',
  published: true,
  ownToken: true,
  params: t.Object({ token }),
  gates: [bearsRunner],
  handle: ({ db, bearer }) => renew(db, bearer.id),
  returns: FreshToken,
})

const managed = { published: true, scopes: ['manage_runner'], first: [signedIn] } as const

export const rotateRunnerToken = operation({
  method: 'POST',
  path: '/runners/:id/reset_authentication_token',
  summary: 'Replace the token of a runner; the new one is shown this once',
  ...managed,
  gates: [runner, managesRunner],
  handle: ({ db, runner }) => renew(db, runner.id),
  returns: FreshToken,
})

const RegistrationToken = t.Object({ token: t.String() })

async function reset(db: Db, place: RunnerPlace): Promise<Static<typeof RegistrationToken>> {
  const fresh = makeToken(REGISTRATION_PREFIX)
  await setRegistrationToken(db, place, digestOf(fresh))
  return { token: fresh }
}

const registration = { published: true, first: [signedIn], returns: RegistrationToken } as const

export const rotateInstanceRegistrationToken = operation({
  method: 'POST',
  path: '/runners/reset_registration_token',
  summary: 'Replace the token that registers runners of the instance',
  ...registration,
  gates: [administrator],
  handle: ({ db }) => reset(db, INSTANCE.place),
})

export const rotateGroupRegistrationToken = operation({
  method: 'POST',
  path: '/groups/:id/runners/reset_registration_token',
  summary: 'Replace the token that registers runners of a group',
  ...registration,
  gates: [group, groupOwner],
  handle: async ({ db, group, vault }) => {
    const fresh = makeToken(REGISTRATION_PREFIX)
    await setGroupToken(db, group.id, { digest: digestOf(fresh), sealed: vault.seal(fresh) })
    return { token: fresh }
  },
})

export const rotateProjectRegistrationToken = operation({
  method: 'POST',
  path: '/projects/:id/runners/reset_registration_token',
  summary: 'Replace the token that registers runners of a project',
  ...registration,
  gates: [project, maintainer],
  handle: ({ db, project }) => reset(db, { group_id: null, project_id: project.id }),
})
