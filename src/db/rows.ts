import { sql, type Selectable } from 'kysely'
import type { Database } from './schema/tables.ts'
import { statement, type Slots, type Sql, type Statement } from './statement.ts'

// Statements over single rows of one table, for records without joins. Column names are typed by the schema.

type Table = keyof Database
type Row<T extends Table> = Selectable<Database[T]>
type Column<T extends Table> = keyof Row<T> & string
type Values = Record<string, unknown>

const matches = (keys: readonly string[], p: Slots<Values>): Sql =>
  sql.join(
    keys.map((key) => sql`${sql.ref(key)} = ${p[key]}`),
    sql` and `,
  )

/** The row of a record that was found before. Throws when it is gone; the kernel then answers as the gates do. */
export function existing<Found>(row: Found | undefined): Found {
  if (row === undefined) throw new Error('a row is gone')
  return row
}

/** `select * … where` every key column equals its value. */
export const selectOne = <T extends Table, K extends Column<T>>(
  table: T,
  keys: readonly K[],
): Statement<Pick<Row<T>, K>, Row<T>> =>
  statement((p: Slots<Values>) => sql<Row<T>>`select * from ${sql.table(table)} where ${matches(keys, p)}`)

/** Inserts the given columns and returns the row. */
export const insertInto = <T extends Table, C extends Column<T>>(
  table: T,
  columns: readonly C[],
): Statement<Pick<Row<T>, C>, Row<T>> =>
  statement((p: Slots<Values>) => {
    const names = sql.join(columns.map((column) => sql.ref(column)))
    const values = sql.join(columns.map((column) => sql`${p[column]}`))
    return sql<Row<T>>`insert into ${sql.table(table)} (${names}) values (${values}) returning *`
  })

/**
 * Changes the columns whose values are not undefined and returns the row. `updated_at` moves only when a value differs,
 * so that an empty change changes nothing.
 */
export function updateIn<T extends Table, K extends Column<T>, C extends Column<T>>(
  table: T,
  keys: readonly K[],
  columns: readonly C[],
): Statement<Pick<Row<T>, K> & Partial<Pick<Row<T>, C>>, Row<T>> {
  const update = statement((p: Slots<Values & { given: string[] }>) => {
    const isGiven = (column: string): Sql => sql`${sql.lit(column)} = any(${p.given}::text[])`
    const set = columns.map(
      (column) =>
        sql`${sql.ref(column)} = case when ${isGiven(column)} then ${p[column]} else ${sql.ref(column)} end`,
    )
    const differs = columns.map(
      (column) => sql`(${isGiven(column)} and ${sql.ref(column)} is distinct from ${p[column]})`,
    )
    return sql<Row<T>>`
      update ${sql.table(table)}
         set ${sql.join(set)}, updated_at = case when ${sql.join(differs, sql` or `)} then now() else updated_at end
       where ${matches(keys, p)} returning *`
  })
  return {
    get name() {
      return update.name
    },
    get text() {
      return update.text
    },
    bind: (values) => {
      const all: Values = values
      return update.bind({ ...all, given: columns.filter((column) => all[column] !== undefined) })
    },
  }
}

/** Deletes the row whose key columns equal the values. */
export const deleteFrom = <T extends Table, K extends Column<T>>(
  table: T,
  keys: readonly K[],
): Statement<Pick<Row<T>, K>, unknown> =>
  statement((p: Slots<Values>) => sql`delete from ${sql.table(table)} where ${matches(keys, p)}`)
