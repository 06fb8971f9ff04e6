import { sql, type RawBuilder } from 'kysely'
import { ROLES, belongsBelow, heldBy, roleInNamespace, roleInProject } from '../core/sight/roles.ts'
import type { Db } from '../db/db.ts'
import { statements } from '../db/statement.ts'
import type { Visit } from '../http/entry.ts'
import type { Actor, Preload } from '../http/gate.ts'

/** The kind of credential, and the record read with it: sign-in and the first record are one statement. */
interface Shape {
  readonly who: 'nobody' | 'token' | 'user_id' | 'username' | 'job' | 'deploy_token'
  readonly preload: Preload | 'nothing'
  readonly by: 'id' | 'full_path'
}
interface Values {
  readonly who: Buffer | number | string | null
  readonly ref: number | string | null
}
/** The columns of a deploy token that decide what it opens. */
interface DeployTokenRow {
  readonly id: number
  readonly username: string
  readonly project_id: number | null
  readonly namespace_id: number | null
  readonly scopes: readonly string[]
  readonly lasts: boolean
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
  /** Of the running job whose token it is, where it is one's. */
  readonly job_id?: number | null
  readonly job_project_id?: number
  /** Of the deploy token, where it is one. */
  readonly deploy_token?: DeployTokenRow | null
  /** The id of what was read along; the rest of its row is beside it. */
  readonly id?: number | null
}

const MINIMAL = sql.lit(ROLES.minimal_access)
const NO_TOKEN = sql`null::bigint as token_id`
const TOKEN = sql`
  t.id as token_id, t.scopes as token_scopes, t.revoked as token_revoked, t.expires_at <= today() as token_expired,
  t.impersonation as token_impersonation,
  t.last_used_at is null or t.last_used_at < now() - interval '10 minutes' as token_stale`
const JOB = sql`j.id as job_id, j.project_id as job_project_id,`
const DEPLOY_TOKEN = sql`
  case when d.id is not null then json_build_object('id', d.id, 'username', d.username, 'project_id', d.project_id,
    'namespace_id', d.namespace_id, 'scopes', d.scopes,
    'lasts', not d.revoked and coalesce(d.expires_at > now(), true)) end as deploy_token,`
const USER = sql`
  u.id as user_id, u.username as user_username, u.name as user_name, u.email as user_email, u.admin as user_admin,
  u.external as user_external, u.state as user_state`

const entries = statements<Shape, Values, Row>((p, shape) => {
  const user = {
    nobody: sql`left join users u on false`,
    token: sql`
      left join personal_access_tokens t on t.digest = ${p.who}
      left join users u on u.id = t.user_id`,
    job: sql`
      left join ci_jobs j on j.token_digest = ${p.who} and j.status in ('running', 'canceling')
      left join users u on u.id = j.user_id`,
    deploy_token: sql`left join deploy_tokens d on d.digest = ${p.who} left join users u on false`,
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
  }[shape.preload] as [RawBuilder<unknown>, RawBuilder<unknown>]
  const extra = { job: JOB, deploy_token: DEPLOY_TOKEN }[shape.who as string] ?? sql``
  return sql<Row>`
    select ${shape.who === 'token' ? TOKEN : NO_TOKEN}, ${extra} ${USER}, clock.version as settings_version ${columns}
      from settings_clock clock ${user} ${joins}`
})

/** Reads who bears a token, or is meant by an id or a name, with the record that is read along. */
export async function enter(
  db: Db,
  who: Shape['who'],
  key: Values['who'],
  preload: Visit['preload'],
): Promise<Row> {
  const ref = preload && readRef(preload.ref)
  const shape: Shape = {
    who,
    preload: preload && ref !== undefined ? preload.kind : 'nothing',
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

/** The record read with the sign-in; undefined where there is none. */
export const foundIn = (row: Row): unknown => (row.id === null || row.id === undefined ? undefined : row)

export const actorOf = (row: Row): Actor | null =>
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
