import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'

interface Identity {
  readonly user_id: number
  readonly provider: string
  readonly extern_uid: string
}
const set = statement(
  (p: Slots<Identity>) => sql`
    insert into user_identities (user_id, provider, extern_uid) values (${p.user_id}, ${p.provider}, ${p.extern_uid})
    on conflict on constraint user_identities_user_key do update set extern_uid = excluded.extern_uid`,
)
/** Says what a provider calls a user. Violates `user_identities_extern_uid_key` when it calls another one so. */
export const setIdentity = (db: Db, identity: Identity): Promise<number> => db.run(set, identity)
