import { sql } from 'kysely'
import type { Sql } from '../../db/statement.ts'

// How alike a project or a namespace is to a word.

const nameOf = (row: string): Sql => sql`lower(${sql.ref(`${row}.name`)}) collate "C"`
const pathOf = (row: string): Sql => sql`lower(${sql.ref(`${row}.path`)}) collate "C"`

/** Whether the row bears the word as its name or its path. */
export const isCalled = (row: string, word: Sql): Sql =>
  sql`(${pathOf(row)} = lower(${word}) or ${nameOf(row)} = lower(${word}))`

/**
 * An order: rows that are called so, rows whose name begins so, rows whose path begins so, and the rest, each by name.
 * Of equally similar rows those of which `first` holds come first.
 */
export function bySimilarity(row: string, word: Sql, first?: Sql): Sql {
  const [name, path, is] = [nameOf(row), pathOf(row), isCalled(row, word)]
  const begins = (column: Sql): Sql => sql`starts_with(${column}, lower(${word}))`
  return sql`
    case when ${is} then 0 when ${begins(name)} then 1 when ${begins(path)} then 2 else 3 end,
    ${first === undefined ? sql`` : sql`(${first}) desc,`}
    (case when not ${is} and not ${begins(name)} and ${begins(path)} then ${path} else ${name} end),
    ${sql.ref(`${row}.id`)}`
}
