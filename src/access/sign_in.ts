import { sql, type RawBuilder } from 'kysely'
import { ROLES, belongsBelow, heldBy, roleInNamespace, roleInProject } from '../core/roles.ts'
import type { Db } from '../db/client.ts'
import { statements } from '../db/statement.ts'
import type { Visit, Visitor } from '../http/entry.ts'
import type { Actor, Along } from '../http/gate.ts'
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
import { passwordOf, tokenOf } from './presented_tokens.ts'
import { digestOf, touch } from './tokens.ts'

/** Who is asking, and what to read beside. Everything one request needs to begin with is one statement. */
interface Shape {
  readonly who: 'nobody' | 'token' | 'user_id' | 'username'
  readonly along: Along | 'nothing'
  readonly by: 'id' | 'full_path'
}
interface Values {
  readonly who: Buffer | number | string | null
  readonly ref: number | string | null
}
interface Row {
  readonly token_id: number | null
  readonly token_scopes: string[]
  readonly token_revoked: boolean
  readonly token_expired: boolean
  readonly token_impersonation: boolean
  readonly token_stale: boolean
  readonly user_id: number | null
  readonly user_username: string
  readonly user_name: string
  readonly user_email: string
  readonly user_admin: boolean
  readonly user_external: boolean
  readonly user_state: string
  readonly settings_version: number
  /** The id of what was read along; the rest of its row is beside it. */
  readonly id?: number | null
}

const MINIMAL = sql.lit(ROLES.minimal_access)
const NO_TOKEN = sql`null::bigint as token_id`
const TOKEN = sql`
  t.id as token_id, t.scopes as token_scopes, t.revoked as token_revoked, t.expires_at <= today() as token_expired,
  t.impersonation as token_impersonation,
  t.last_used_at is null or t.last_used_at < now() - interval '10 minutes' as token_stale`
const USER = sql`
  u.id as user_id, u.username as user_username, u.name as user_name, u.email as user_email, u.admin as user_admin,
  u.external as user_external, u.state as user_state`

const entries = statements<Shape, Values, Row>((p, shape) => {
  const user = {
    nobody: sql`left join users u on false`,
    token: sql`
      left join personal_access_tokens t on t.digest = ${p.who}
      left join users u on u.id = t.user_id`,
    user_id: sql`left join users u on u.id = ${p.who}`,
    username: sql`left join users u on lower(u.username) = lower(${p.who})`,
  }[shape.who]
  const is = (table: string): RawBuilder<unknown> => {
    const at = (column: string): RawBuilder<unknown> => sql.ref(`${table}.${column}`)
    return shape.by === 'id' ? sql`${at('id')} = ${p.ref}` : sql`lower(${at('full_path')}) = lower(${p.ref})`
  }
  const line = sql`n.traversal_ids`
  const held = heldBy(sql`u.id`)
  const namespaceRole = sql`
    coalesce(${roleInNamespace(held, line)}, 0) as role,
    n.visibility <> 'public'
      and coalesce(${roleInNamespace(held, line)}, ${MINIMAL}) = ${MINIMAL}
      and ${belongsBelow(held, sql`n.id`)} as belongs_below`
  const [columns, joins] = {
    nothing: [sql``, sql``],
    project: [
      sql`, p.*, n.traversal_ids, coalesce(${roleInProject(held, sql`p.id`, line)}, 0) as role`,
      sql`left join projects p on ${is('p')} left join namespaces n on n.id = p.namespace_id`,
    ],
    group: [sql`, n.*, ${namespaceRole}`, sql`left join namespaces n on ${is('n')} and n.kind = 'group'`],
    namespace: [sql`, n.*, ${namespaceRole}`, sql`left join namespaces n on ${is('n')}`],
  }[shape.along] as [RawBuilder<unknown>, RawBuilder<unknown>]
  return sql<Row>`
    select ${shape.who === 'token' ? TOKEN : NO_TOKEN}, ${USER}, clock.version as settings_version ${columns}
      from settings_clock clock ${user} ${joins}`
})

/** What tokens are read with. */
export type Entrance = Pick<Instance, 'db' | 'settings' | 'config'>

/** Makes the function that tells who is calling, reading along what the operation asks for. */
export function createSignIn(instance: Entrance): (visit: Visit) => Promise<Visitor> {
  const read = createTokenReader(instance)
  return async (visit) => {
    const token = tokenOf(visit.headers, visit.sent)
    const password = token === undefined && visit.basic ? passwordOf(visit.headers) : undefined
    if (password !== undefined) return readPassword(read, password, visit)
    if (token === undefined) return read(undefined, visit.along, () => {})
    const sudo = sudoOf(visit)
    const bearer = await read(token, sudo === undefined ? visit.along : undefined, (scopes) =>
      checkScope(scopes, visit),
    )
    if (sudo === undefined || bearer.actor === null) return bearer
    const { actor, tokenId, scopes } = bearer
    return impersonate(instance.db, { actor, tokenId, scopes, as: sudo, visit })
  }
}

/** Who bears a token, with its scopes and what was read along. Without a token nobody does. */
export interface Bearer extends Visitor {
  readonly scopes: readonly string[]
}

type TokenReader = (
  token: string | undefined,
  along: Visit['along'],
  check: (scopes: readonly string[]) => void,
) => Promise<Bearer>

/**
 * Makes the function that reads a token. Throws the published Problem for a token that will not do; `check` throws it
 * for scopes that will not.
 */
export function createTokenReader({ db, settings, config }: Entrance): TokenReader {
  return async (token, along, check) => {
    if (token === undefined) {
      if (along === undefined) return { actor: null, tokenId: null, along, scopes: [] }
      const row = await enter(db, 'nobody', null, along)
      await settings.catchUp(row.settings_version)
      return { actor: null, tokenId: null, along: foundIn(row), scopes: [] }
    }
    const row = await enter(db, 'token', digestOf(token), along)
    await settings.catchUp(row.settings_version)
    const actor = actorOf(row)
    if (row.token_id === null || actor === null) throw unauthorized()
    if (row.token_revoked) throw revokedToken()
    if (row.token_expired) throw expiredToken()
    if (row.token_impersonation && !settings.get('impersonation_enabled')) throw impersonationDisabled()
    check(row.token_scopes)
    if (row.user_state !== 'active') throw accountClosed(row.user_state, config)
    // Nobody waits for this, and losing it loses nothing but a date.
    if (row.token_stale) void touch(db, row.token_id).catch(() => {})
    return { actor, tokenId: row.token_id, along: foundIn(row), scopes: row.token_scopes }
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
  const known = read(password, visit.along, (scopes) => checkScope(scopes, visit))
  const reads = visit.method === 'GET' || visit.method === 'HEAD'
  return known.catch((error: unknown) => {
    if (!reads || !(error instanceof Problem) || error.status !== 401) throw error
    return read(undefined, visit.along, () => {})
  })
}

/** Whom the caller wants to act as: an id or a user name. */
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
    ? await enter(db, 'user_id', Number(as), visit.along)
    : await enter(db, 'username', as.replaceAll('\0', ''), visit.along)
  const other = actorOf(row)
  if (other === null) throw notFound(`User with ID or username '${as}'`)
  return { actor: other, tokenId, owner: actor, along: foundIn(row) }
}

async function enter(db: Db, who: Shape['who'], key: Values['who'], along: Visit['along']): Promise<Row> {
  const ref = along && readRef(along.ref)
  const shape: Shape = {
    who,
    along: along && ref !== undefined ? along.kind : 'nothing',
    by: ref?.by ?? 'id',
  }
  const row = await db.one(entries(shape), { who: key, ref: ref?.value ?? null })
  if (row === undefined) throw new Error('signing in read no row')
  return row
}

/** All digits is an id, anything else a full path. */
function readRef(ref: string): { by: Shape['by']; value: number | string } | undefined {
  if (!/^\d+$/.test(ref)) return { by: 'full_path', value: ref }
  return ref.length > 15 ? undefined : { by: 'id', value: Number(ref) }
}

const foundIn = (row: Row): unknown => (row.id === null || row.id === undefined ? undefined : row)

const actorOf = (row: Row): Actor | null =>
  row.user_id === null
    ? null
    : {
        id: row.user_id,
        username: row.user_username,
        name: row.user_name,
        email: row.user_email,
        admin: row.user_admin,
        external: row.user_external,
      }
