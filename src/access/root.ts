import { sql } from 'kysely'
import * as users from '../core/users.ts'
import { statement } from '../db/statement.ts'
import type { Instance } from '../instance.ts'
import * as tokens from './tokens.ts'

const lockFirst = statement(() => sql`select pg_advisory_xact_lock(7163020)`)
const anyUser = statement(() => sql`select 1 from users limit 1`)

/**
 * On the first start, makes the administrator `root` with a token: the one configured, or a fresh one, which is
 * returned to be shown this once. Returns undefined when there are users.
 */
export function ensureRoot({ db, config, settings }: Instance): Promise<string | undefined> {
  return db.transaction(async (tx) => {
    await tx.run(lockFirst, {})
    if ((await tx.one(anyUser, {})) !== undefined) return undefined
    const root = await users.create(tx, {
      username: 'root',
      name: 'Administrator',
      email: 'root@localhost',
      admin: true,
    })
    const token = config.rootToken ?? tokens.makeToken(settings.get('personal_access_token_prefix'))
    const scopes = ['api', 'sudo', 'read_repository', 'write_repository'] as const
    await tokens.create(tx, { user_id: root.id, name: 'root', token, scopes, expires_at: null })
    return token
  })
}
