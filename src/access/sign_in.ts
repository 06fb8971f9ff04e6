import type { Db } from '../db/db.ts'
import type { Visit, Visitor } from '../http/entry.ts'
import type { Actor } from '../http/gate.ts'
import {
  badParams,
  expiredToken,
  forbidden,
  impersonationDisabled,
  insufficientScope,
  notFound,
  revokedToken,
  unauthorized,
  Problem,
} from '../http/problems.ts'
import type { Instance } from '../instance.ts'
import { actorOf, enter, foundIn } from './entry_row.ts'
import { enterDeployToken } from './deploy_tokens.ts'
import { deployTokenOf, jobTokenOf, passwordOf, tokenOf } from './presented_tokens.ts'
import { digestOf, touch } from './tokens.ts'

/** The parts of the instance that token look-ups need. */
export type Entrance = Pick<Instance, 'db' | 'settings' | 'config'>

/** Makes the function that tells who is calling, reading along what the operation asks for. */
export function createSignIn(instance: Entrance): (visit: Visit) => Promise<Visitor> {
  const read = createTokenReader(instance)
  return async (visit) => {
    const { headers, sent, basic = false } = visit
    if (visit.ownToken) return read(undefined, visit.preload, () => {})
    const ofJob = visit.jobTokens ? jobTokenOf(headers, sent, basic) : undefined
    if (ofJob !== undefined) return enterJob(instance.db, ofJob, visit)
    const deploy =
      visit.deployTokens && sent['private_token'] === undefined ? deployTokenOf(headers) : undefined
    if (deploy !== undefined) return enterDeployToken(instance.db, deploy, visit)
    const token = tokenOf(visit.headers, visit.sent)
    const password = token === undefined && visit.basic ? passwordOf(visit.headers) : undefined
    if (password !== undefined) return readPassword(read, password, visit)
    if (token === undefined) return read(undefined, visit.preload, () => {})
    const sudo = sudoOf(visit)
    const bearer = await read(token, sudo === undefined ? visit.preload : undefined, (scopes) =>
      checkScope(scopes, visit),
    )
    if (sudo === undefined || bearer.actor === null) return bearer
    const { actor, tokenId, scopes } = bearer
    return impersonate(instance.db, { actor, tokenId, scopes, as: sudo, visit })
  }
}

/** The bearer of a token, its scopes and the preloaded record. Without a token there is no actor. */
export interface Bearer extends Visitor {
  readonly scopes: readonly string[]
}

type TokenReader = (
  token: string | undefined,
  preload: Visit['preload'],
  check: (scopes: readonly string[]) => void,
) => Promise<Bearer>

/**
 * Makes the function that reads a token. Throws the published Problem for a token that will not do; `check` throws it
 * for scopes that will not.
 */
export function createTokenReader({ db, settings, config }: Entrance): TokenReader {
  return async (token, preload, check) => {
    if (token === undefined) {
      if (preload === undefined) return { actor: null, tokenId: null, preloaded: undefined, scopes: [] }
      const row = await enter(db, 'nobody', null, preload)
      await settings.catchUp(row.settings_version)
      return { actor: null, tokenId: null, preloaded: foundIn(row), scopes: [] }
    }
    const row = await enter(db, 'token', digestOf(token), preload)
    await settings.catchUp(row.settings_version)
    const actor = actorOf(row)
    if (row.token_id === null || actor === null) throw unauthorized()
    if (row.token_revoked) throw revokedToken()
    if (row.token_expired) throw expiredToken()
    if (row.token_impersonation && !settings.get('impersonation_enabled')) throw impersonationDisabled()
    check(row.token_scopes)
    if (row.user_state !== 'active') throw accountClosed(row.user_state, config)
    // Not awaited: losing it loses a date only.
    if (row.token_stale) void touch(db, row.token_id).catch(() => {})
    return { actor, tokenId: row.token_id, preloaded: foundIn(row), scopes: row.token_scopes }
  }
}

/** The refusal of a good token whose user was blocked or deactivated, in the published words. */
const accountClosed = (state: string, { url }: Instance['config']): Problem =>
  forbidden(
    state === 'deactivated'
      ? 'Your account has been deactivated by your administrator. ' +
          `Please log back in from a web browser to reactivate your account at ${url}`
      : 'Your account has been blocked.',
  )

/** A token sent as a password. Where it will not do, a reader goes on without one, and meets what is not open to all. */
async function readPassword(read: TokenReader, password: string, visit: Visit): Promise<Visitor> {
  const known = read(password, visit.preload, (scopes) => checkScope(scopes, visit))
  const reads = visit.method === 'GET' || visit.method === 'HEAD'
  return known.catch((error: unknown) => {
    if (!reads || !(error instanceof Problem) || error.status !== 401) throw error
    return read(undefined, visit.preload, () => {})
  })
}

/** The user and the project of a running job's token. */
export interface JobBearer {
  readonly actor: Actor
  readonly jobId: number
  readonly projectId: number
  readonly preloaded: unknown
}

/** The user of a running job by the job's token, with what is read along; undefined for any other token. */
export async function readJobToken(
  db: Db,
  token: string,
  preload: Visit['preload'],
): Promise<JobBearer | undefined> {
  const row = await enter(db, 'job', digestOf(token), preload)
  const actor = actorOf(row)
  const { job_id: jobId, job_project_id: projectId } = row
  if (actor === null || row.user_state !== 'active' || !jobId || projectId === undefined) return undefined
  return { actor, jobId, projectId, preloaded: foundIn(row) }
}

/** A job reaches its own project, and reads those that are open to everybody; to it the others do not exist. */
async function enterJob(db: Db, token: string, { method, preload }: Visit): Promise<Visitor> {
  const bearer = token === '' ? undefined : await readJobToken(db, token, preload)
  if (bearer === undefined) throw unauthorized()
  const { actor, jobId, projectId } = bearer
  const found = bearer.preloaded as { readonly id: number; readonly visibility: string } | undefined
  const reads = method === 'GET' || method === 'HEAD'
  const isOwn = preload?.kind === 'project' && found?.id === projectId
  const reaches = isOwn || (reads && found?.visibility === 'public')
  return { actor, tokenId: null, jobId, preloaded: reaches ? found : undefined }
}

/** The user to act as: an id or a user name. */
function sudoOf({ headers, sent }: Visit): string | undefined {
  const given = headers['sudo'] ?? sent['sudo'] ?? undefined
  if (given === undefined || typeof given === 'string') return given
  if (typeof given !== 'number') throw badParams(['sudo is invalid'])
  return String(given)
}

function checkScope(held: readonly string[], { method, scopes = [] }: Visit): void {
  const reads = method === 'GET' || method === 'HEAD'
  const enough = ['api', ...(reads ? ['read_api'] : []), ...scopes]
  if (!enough.some((scope) => held.includes(scope)))
    throw insufficientScope([...new Set(['api', 'read_api', ...scopes])])
}

interface Sudo {
  readonly actor: Actor
  readonly tokenId: number | null
  readonly scopes: readonly string[]
  /** Id or user name. */
  readonly as: string
  readonly visit: Visit
}

async function impersonate(db: Db, { actor, tokenId, scopes, as, visit }: Sudo): Promise<Visitor> {
  if (!actor.admin) throw forbidden('Must be admin to use sudo')
  if (!scopes.includes('sudo')) throw insufficientScope(['sudo'])
  const row = /^\d{1,15}$/.test(as)
    ? await enter(db, 'user_id', Number(as), visit.preload)
    : await enter(db, 'username', as.replaceAll('\0', ''), visit.preload)
  const other = actorOf(row)
  if (other === null) throw notFound(`User with ID or username '${as}'`)
  return { actor: other, tokenId, owner: actor, preloaded: foundIn(row) }
}
