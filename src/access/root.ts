import { sql } from 'kysely'
import * as users from '../core/people/users.ts'
import { statement } from '../db/statement.ts'
import type { Instance } from '../instance.ts'
import * as tokens from './tokens.ts'

const lockFirst = statement(() => sql`select pg_advisory_xact_lock(7163020)`)
const firstAdmin = statement(
  () => sql<{ username: string }>`select username from users where admin order by id limit 1`,
)

export interface Root {
  /** An administrator's name: `root`, unless somebody made another before the first start. */
  readonly username: string
  /** The token made this moment, to be shown this once; undefined when there was an administrator. */
  readonly token: string | undefined
}

/** While there is no administrator, makes `root` with a token: the one configured, or a fresh one. */
export function ensureRoot({ db, config, settings }: Instance): Promise<Root> {
  return db.transaction(async (tx) => {
    await tx.run(lockFirst, {})
    const known = await tx.one(firstAdmin, {})
    if (known !== undefined) return { username: known.username, token: undefined }
    const root = await users.create(tx, {
      username: 'root',
      name: 'Administrator',
      email: 'root@localhost',
      admin: true,
    })
    const token = config.rootToken ?? tokens.makeToken(settings.get('personal_access_token_prefix'))
    const scopes = ['api', 'sudo', 'read_repository', 'write_repository'] as const
    await tokens.create(tx, { user_id: root.id, name: 'root', token, scopes, expires_at: null })
    return { username: root.username, token }
  })
}
