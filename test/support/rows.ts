import type { QueryResultRow } from 'pg'
import type { World } from './world.ts'

/** The rows of SQL that is written in a test: to make what has no maker, and to see what is stored. */
export const rowsOf = async <Row extends QueryResultRow>(
  world: World,
  text: string,
  values: unknown[] = [],
): Promise<Row[]> => (await world.opened.client.pool.query<Row>(text, values)).rows

/** The same for one row. */
export async function rowOf<Row extends QueryResultRow>(
  world: World,
  text: string,
  values: unknown[] = [],
): Promise<Row> {
  const [row, ...more] = await rowsOf<Row>(world, text, values)
  if (row === undefined || more.length > 0) throw new Error(`not one row: ${text}`)
  return row
}

/** Notes that a user's tokens were used just now. A stale one is touched beside its first requests, nobody knows when. */
export const freshenTokens = async (world: World, user: { readonly id: number }): Promise<void> => {
  await rowsOf(world, 'update personal_access_tokens set last_used_at = now() where user_id = $1', [user.id])
}
