import { sql, type RawBuilder } from 'kysely'

/**
 * As part of a statement: whether what `table` names lasts today. Memberships, shares, invitations and tokens are over on
 * the day on which they expire.
 */
export const lasts = (table: string): RawBuilder<boolean> => {
  const end = sql.ref(`${table}.expires_at`)
  return sql`(${end} is null or ${end} > today())`
}
