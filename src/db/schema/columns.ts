import type { ColumnType, JSONColumnType } from 'kysely'

// The kinds of columns that many tables have.

export type Id = ColumnType<number, never, never>
export type Json<T extends object> = JSONColumnType<T, string | undefined>
export type Time = ColumnType<Date, Date | undefined, Date>

export interface Times {
  created_at: Time
  updated_at: Time
}

/** Rows as one array per column, for `unnest`. */
export type Arrays<Row> = { readonly [Name in keyof Row]: readonly Row[Name][] }

export const arraysOf = <Row extends object>(
  rows: readonly Row[],
  names: readonly (keyof Row)[],
): Arrays<Row> =>
  Object.fromEntries<unknown>(names.map((name) => [name, rows.map((row) => row[name])])) as Arrays<Row>

export type Visibility = 'private' | 'internal' | 'public'
