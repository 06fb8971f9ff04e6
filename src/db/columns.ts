import type { ColumnType, JSONColumnType } from 'kysely'

// The kinds of columns that many tables have.

export type Id = ColumnType<number, never, never>
export type Json<T extends object> = JSONColumnType<T, string | undefined>
export type Time = ColumnType<Date, Date | undefined, Date>

export interface Times {
  created_at: Time
  updated_at: Time
}
