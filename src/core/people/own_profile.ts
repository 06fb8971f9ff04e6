import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'

const rename = statement(
  (p: Slots<{ id: number; name: string }>) => sql`
    with renamed as (
      update namespaces set name = ${p.name}, full_name = ${p.name}, updated_at = now()
       where owner_id = ${p.id} and name is distinct from ${p.name}
    )
    update users set name = ${p.name}, updated_at = now() where id = ${p.id} and name is distinct from ${p.name}`,
)

/** Gives a user, and the namespace of the user, another name for people. */
export const renameUser = (db: Db, id: number, name: string): Promise<number> => db.run(rename, { id, name })
