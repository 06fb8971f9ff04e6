import { sql } from 'kysely'
import type { Db } from '../../db/client.ts'
import { statement, type Slots } from '../../db/statement.ts'

const match = statement(
  (p: Slots<{ names: readonly string[]; pattern: string }>) => sql<{ name: string }>`
    select name from unnest(${p.names}::text[]) with ordinality n (name, position)
     where name ~ ${p.pattern} order by position`,
)

/** What a pattern may take, in milliseconds. */
const PATIENCE = 1_000

/**
 * Those of the names that a regular expression finds. PostgreSQL reads it, because it does so without backtracking,
 * elsewhere than in this process, and gives up in time. Throws what PostgreSQL says of a pattern it cannot read.
 */
export const matching = (db: Db, names: readonly string[], pattern: string): Promise<string[]> =>
  db.transaction(async (tx) => {
    await tx.script(`set local statement_timeout = ${PATIENCE}`)
    return (await tx.rows(match, { names, pattern })).map(({ name }) => name)
  })
