import { branchesOpenTo } from '../core/repositories/collaboration.ts'
import { findRedirect } from '../core/places/project_redirects.ts'
import { placeToMake, type NewPlace } from '../core/pushes/push_to_create.ts'
import { findIdByAlias, repositoryPath, type Project } from '../core/places/projects.ts'
import { ROLES, canSee } from '../core/sight/roles.ts'
import type { Db } from '../db/db.ts'
import type { Actor } from '../http/gate.ts'
import { Problem } from '../http/problems.ts'
import type { Instance } from '../instance.ts'
import { mayReadCode } from './gates/gates.ts'
import { readDeployToken } from './deploy_tokens.ts'
import { DEPLOY_TOKEN_PREFIX, type PresentedDeployToken } from './presented_tokens.ts'
import { createTokenReader, readJobToken, type Bearer, type Entrance } from './sign_in.ts'

/** The act of a git client. */
export type GitWish = 'fetch' | 'push'

/** The user and the project of the act. */
export interface GitEntry {
  readonly actor: Actor | null
  readonly project: Project
  /** Below the repositories' root. */
  readonly path: string
  /** The only branches that may be pushed; undefined where the rules of the project decide alone. */
  readonly only: ReadonlySet<string> | undefined
  /** Whether the address is one that the project had before. */
  readonly moved: boolean
}

/** A refusal as git clients show it: plain text. */
export class GitRefusal extends Error {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(status: number, text: string, headers: Record<string, string> = {}) {
    super(text)
    this.name = 'GitRefusal'
    this.status = status
    this.headers = headers
  }
}

/** Thrown for a push to a path without a project where the caller may make one; to all others it is a refusal. */
export class NoProjectYet extends GitRefusal {
  readonly actor: Actor
  readonly place: NewPlace

  constructor(actor: Actor, place: NewPlace) {
    const { status, message } = noProject()
    super(status, message)
    this.actor = actor
    this.place = place
  }
}

/** Git asks its user for a name and a password when it meets this, or gives up those it had. */
const accessDenied = (): GitRefusal =>
  new GitRefusal(
    401,
    'HTTP Basic: Access denied. If a password was provided for Git authentication, the password was incorrect or ' +
      "you're required to use a token instead of a password. If a token was provided, it was either incorrect, " +
      'expired, or improperly scoped.',
    { 'www-authenticate': 'Basic realm="Guildhall"' },
  )
const noProject = (): GitRefusal =>
  new GitRefusal(
    404,
    "The project you were looking for could not be found or you don't have permission to view it.",
  )
const forbidden = (text: string): GitRefusal => new GitRefusal(403, text)

const MAY_FETCH = ['api', 'read_repository', 'write_repository']
const MAY_PUSH = ['api', 'write_repository']

/**
 * Makes the function that lets a git client in. `place` is a project's full path or an alias, or its id for a client that
 * was let in before: the path may be another project's by now. Throws GitRefusal. To callers without a token everything
 * that they may not read is alike, and to others what they may not see.
 */
export function createGitAccess(
  instance: Entrance,
): (wish: GitWish, place: string | number, authorization: string | undefined) => Promise<GitEntry> {
  const read = createTokenReader(instance)
  return async (wish, place, authorization) => {
    const { user, password: token } = credentialsIn(authorization)
    if (token === undefined && wish === 'push') throw accessDenied()
    if (user === JOB_USER && token !== undefined) {
      const ref = typeof place === 'number' ? String(place) : await refOf(instance, place)
      return enterJob(instance, { wish, ref }, token)
    }
    if (token?.startsWith(DEPLOY_TOKEN_PREFIX)) {
      const ref = typeof place === 'number' ? String(place) : await refOf(instance, place)
      return enterDeployToken(instance, { wish, ref }, { token, username: user })
    }
    const readAt = (ref: string): Promise<Bearer> =>
      read(token, { kind: 'project', ref }, () => {}).catch((error: unknown) => {
        throw error instanceof Problem && error.status < 500 ? accessDenied() : error
      })
    // Let in before, by its id: it has no other address, and none is made for it.
    if (typeof place === 'number') return judge(instance, { wish, place: '' }, await readAt(String(place)))
    const bearer = await readAt(await refOf(instance, place))
    if (bearer.preloaded !== undefined) return judge(instance, { wish, place }, bearer)
    const moved = await movedTo(instance.db, place, bearer.actor)
    if (moved === undefined) return judge(instance, { wish, place }, bearer)
    return { ...(await judge(instance, { wish, place }, await readAt(moved))), moved: true }
  }
}

/** The id of the project that had this address before, whoever asks; judged as any other. */
async function movedTo(db: Db, place: string, actor: Actor | null): Promise<string | undefined> {
  if (!isPath(place)) return undefined
  const moved = await findRedirect(db, place, actor?.id ?? null)
  return moved && String(moved.id)
}

const isPath = (place: string): boolean =>
  place.includes('/') && !place.includes('\0') && place.isWellFormed()

/** The key of the project; an alias stands alone, a path never does. */
async function refOf({ db }: Pick<Instance, 'db'>, place: string): Promise<string> {
  const absent = '0'
  if (place.includes('\0') || !place.isWellFormed()) return absent
  if (place.includes('/')) return place
  return String((await findIdByAlias(db, place)) ?? absent)
}

interface Asked {
  readonly wish: GitWish
  readonly place: string
}

async function judge(
  instance: Pick<Instance, 'db' | 'settings'>,
  { wish, place }: Asked,
  { actor, scopes, preloaded }: Bearer,
): Promise<GitEntry> {
  const found = preloaded as Project | undefined
  const project = found && canSee(actor, found.visibility, found.role, ROLES.guest) ? found : undefined
  const readable = project && mayReadCode(actor, project)
  if (actor === null) {
    if (!readable) throw accessDenied()
    return entry(actor, project)
  }
  if (!MAY_FETCH.some((scope) => scopes.includes(scope))) throw accessDenied()
  if (project === undefined) {
    const makes = wish === 'push' && found === undefined && MAY_PUSH.some((scope) => scopes.includes(scope))
    const free = makes && isPath(place) ? await placeToMake(instance, actor, place) : undefined
    throw free === undefined ? noProject() : new NoProjectYet(actor, free)
  }
  if (wish === 'fetch') {
    if (!readable) throw forbidden('You are not allowed to download code from this project.')
    return entry(actor, project)
  }
  if (!MAY_PUSH.some((scope) => scopes.includes(scope)))
    throw forbidden('You are not allowed to upload code.')
  const pushes = actor.admin || project.role >= ROLES.developer
  const only = readable && !pushes ? await branchesOpenTo(instance.db, project, actor.id) : undefined
  if (!readable || project.archived || only?.size === 0)
    throw forbidden('You are not allowed to push code to this project.')
  return entry(actor, project, only)
}

const entry = (actor: Actor | null, project: Project, only?: GitEntry['only']): GitEntry => ({
  actor,
  project,
  path: repositoryPath(project.id),
  only,
  moved: false,
})

/** Under this name the password is the token of a running job. */
const JOB_USER = 'gitlab-ci-token'

/** A job reads the code of its own project, and of projects that are open to everybody; it writes nothing. */
async function enterJob(
  instance: Pick<Instance, 'db' | 'settings'>,
  { wish, ref }: { readonly wish: GitWish; readonly ref: string },
  token: string,
): Promise<GitEntry> {
  const bearer = await readJobToken(instance.db, token, { kind: 'project', ref })
  if (bearer === undefined) throw accessDenied()
  const project = bearer.preloaded as Project | undefined
  const isOpen = project?.id === bearer.projectId || project?.visibility === 'public'
  if (project === undefined || !isOpen) throw noProject()
  if (wish === 'push') throw forbidden('You are not allowed to upload code.')
  return judge(instance, { wish, place: '' }, { ...bearer, tokenId: null, scopes: ['read_repository'] })
}

/** A deploy token reads the code of the projects that it reaches, and of those that are open to everybody. */
async function enterDeployToken(
  instance: Pick<Instance, 'db' | 'settings'>,
  { wish, ref }: { readonly wish: GitWish; readonly ref: string },
  presented: PresentedDeployToken,
): Promise<GitEntry> {
  const bearer = await readDeployToken(instance.db, presented, { kind: 'project', ref })
  if (bearer === undefined || !bearer.scopes.includes('read_repository')) throw accessDenied()
  const found = bearer.preloaded as Project | undefined
  const project = found && { ...found, role: bearer.reaches ? ROLES.reporter : 0 }
  if (project === undefined || !canSee(null, project.visibility, project.role, ROLES.guest)) throw noProject()
  if (wish === 'push') throw forbidden('You are not allowed to upload code.')
  if (!mayReadCode(null, project)) throw forbidden('You are not allowed to download code from this project.')
  return entry(null, project)
}

interface Credentials {
  readonly user: string
  /** Undefined when there are none, '' for none worth the name. */
  readonly password: string | undefined
}

/** Basic credentials: the password is the token. */
function credentialsIn(authorization: string | undefined): Credentials {
  if (authorization === undefined) return { user: '', password: undefined }
  const encoded = /^basic +(.*)$/i.exec(authorization)?.[1]
  if (encoded === undefined) return { user: '', password: '' }
  const text = Buffer.from(encoded, 'base64').toString()
  const colon = text.indexOf(':')
  return colon === -1
    ? { user: '', password: '' }
    : { user: text.slice(0, colon), password: text.slice(colon + 1) }
}
