import { ROLES } from '../core/sight/roles.ts'
import type { Db } from '../db/db.ts'
import type { Visit, Visitor } from '../http/entry.ts'
import { unauthorized } from '../http/problems.ts'
import { enter, foundIn } from './entry_row.ts'
import type { PresentedDeployToken } from './presented_tokens.ts'
import { digestOf } from './tokens.ts'

/** A project or group as sign-in reads it, with the caller's role. */
interface Place {
  readonly id: number
  readonly traversal_ids: readonly number[]
  readonly role: number
}

/** A deploy token that lasts, and the record read with it. */
export interface DeployBearer {
  readonly id: number
  readonly scopes: readonly string[]
  /** Whether the record is the token's project or group, or below its group. */
  readonly reaches: boolean
  readonly preloaded: unknown
}

/** Reads a deploy token; undefined for one that is unknown, revoked, expired or sent with another name. */
export async function readDeployToken(
  db: Db,
  { token, username }: PresentedDeployToken,
  preload: Visit['preload'],
): Promise<DeployBearer | undefined> {
  const row = await enter(db, 'deploy_token', digestOf(token), preload)
  const found = row.deploy_token
  if (!found?.lasts || (username !== undefined && username !== found.username)) return undefined
  const place = foundIn(row) as Place | undefined
  const isProject = preload?.kind === 'project'
  const reaches =
    place !== undefined &&
    ((isProject && found.project_id === place.id) ||
      (found.namespace_id !== null && place.traversal_ids.includes(found.namespace_id)))
  return { id: found.id, scopes: found.scopes, reaches, preloaded: place }
}

/** As a Developer, so that every protection rule refuses it. */
const roleOf = (scopes: readonly string[]): number =>
  scopes.includes('write_package_registry')
    ? ROLES.developer
    : scopes.includes('read_package_registry')
      ? ROLES.reporter
      : ROLES.guest

/** The visitor that a deploy token is in package registries. Beyond its reach it is as an anonymous caller. */
export async function enterDeployToken(
  db: Db,
  presented: PresentedDeployToken,
  { method, preload, basic }: Visit,
): Promise<Visitor> {
  const bearer = await readDeployToken(db, presented, preload)
  if (bearer === undefined) {
    const isPassword = basic === true && presented.username !== undefined
    // As for the tokens of users: a reader whose password will not do has none.
    if (!isPassword || (method !== 'GET' && method !== 'HEAD')) throw unauthorized()
    const row = await enter(db, 'nobody', null, preload)
    return { actor: null, tokenId: null, preloaded: foundIn(row) }
  }
  const { id, scopes, reaches, preloaded } = bearer
  const place = preloaded as Place | undefined
  return {
    actor: null,
    tokenId: null,
    deployTokenId: id,
    preloaded: place && Object.assign(place, { role: reaches ? roleOf(scopes) : 0 }),
  }
}
