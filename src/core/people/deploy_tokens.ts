import { sql, type Selectable } from 'kysely'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed, type Page } from '../../db/pages.ts'
import type { DeployTokenTable } from '../../db/schema/people.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'

/** A deploy token without its digest. */
export type DeployTokenRow = Omit<Selectable<DeployTokenTable>, 'digest'>

/** The parent of deploy tokens. */
export interface TokenParent {
  readonly kind: 'project' | 'group'
  readonly id: number
}

const COLUMNS = sql`id, project_id, namespace_id, name, username, scopes, expires_at, revoked, created_at`
const parentColumn = { project: sql`project_id`, group: sql`namespace_id` } as const

interface ListShape {
  readonly of: TokenParent['kind'] | 'instance'
  readonly active: boolean | undefined
}
const listStatement = pageStatements<ListShape, { parent_id: number } & Page, DeployTokenRow>(
  (p, { of, active }) => {
    const lasts = sql`(not revoked and coalesce(expires_at > now(), true))`
    const rows = sql`deploy_tokens
      where ${of === 'instance' ? sql`true` : sql`${parentColumn[of]} = ${p.parent_id}`}
        and ${active === undefined ? sql`true` : active ? lasts : sql`not ${lasts}`}`
    return paged(
      sql<DeployTokenRow>`select ${COLUMNS} from ${rows} order by id limit ${p.limit} offset ${p.offset}`,
      sql`select from ${rows}`,
    )
  },
)
/** One page of the deploy tokens of a parent, or of the instance; `active` keeps those that last, or the others. */
export const list = (
  db: Db,
  parent: TokenParent | undefined,
  active: boolean | undefined,
  page: Page,
): Promise<Listed<DeployTokenRow>> =>
  db.page(listStatement({ of: parent?.kind ?? 'instance', active }), { parent_id: parent?.id ?? 0, ...page })

type Key = { id: number; parent_id: number }
const ofParent = statements<Pick<TokenParent, 'kind'>, Key, DeployTokenRow>(
  (p, { kind }) => sql`
    select ${COLUMNS} from deploy_tokens where ${parentColumn[kind]} = ${p.parent_id} and id = ${p.id}`,
)
export const find = (
  db: Db,
  { kind, id }: TokenParent,
  tokenId: number,
): Promise<DeployTokenRow | undefined> => db.one(ofParent({ kind }), { id: tokenId, parent_id: id })

const byDigest = statement(
  (p: Slots<{ digest: Buffer }>) =>
    sql<DeployTokenRow>`select ${COLUMNS} from deploy_tokens where digest = ${p.digest}`,
)
export const findByDigest = (db: Db, digest: Buffer): Promise<DeployTokenRow | undefined> =>
  db.one(byDigest, { digest })

interface NewDeployToken {
  readonly name: string
  /** Undefined for one that is made of the id. */
  readonly username: string | undefined
  readonly digest: Buffer
  readonly scopes: readonly string[]
  readonly expires_at: Date | null
}
interface Inserted {
  readonly project_id: number | null
  readonly namespace_id: number | null
  readonly name: string
  readonly username: string | null
  readonly digest: Buffer
  readonly scopes: string[]
  readonly expires_at: Date | null
}
const insertStatement = statement(
  (p: Slots<Inserted>) => sql<DeployTokenRow>`
    with fresh as materialized (select nextval(pg_get_serial_sequence('deploy_tokens', 'id')) as id)
    insert into deploy_tokens (id, project_id, namespace_id, name, username, digest, scopes, expires_at)
      overriding system value
    select id, ${p.project_id}, ${p.namespace_id}, ${p.name},
           coalesce(${p.username}, 'gitlab+deploy-token-' || id), ${p.digest}, ${p.scopes}, ${p.expires_at}
      from fresh
    returning ${COLUMNS}`,
)
export const insert = (db: Db, { kind, id }: TokenParent, token: NewDeployToken): Promise<DeployTokenRow> =>
  db.insert(insertStatement, {
    ...token,
    username: token.username ?? null,
    scopes: [...token.scopes],
    project_id: kind === 'project' ? id : null,
    namespace_id: kind === 'group' ? id : null,
  })

const removeStatement = statement(
  (p: Slots<{ id: number }>) => sql`delete from deploy_tokens where id = ${p.id}`,
)
export const remove = (db: Db, id: number): Promise<void> => db.remove(removeStatement, { id })

const revokeStatement = statement(
  (p: Slots<{ id: number }>) => sql`update deploy_tokens set revoked = true where id = ${p.id}`,
)
/** Ends a token; its record stays. */
export const revoke = (db: Db, id: number): Promise<number> => db.run(revokeStatement, { id })
