import type { CountText } from './schema/counted_types.ts'
import type { Listed, PageStatement } from './pages.ts'
import type { Sql, Statement } from './statement.ts'

/** Runs statements. Outside a transaction each call stands alone and is durable when it resolves. */
export interface Db {
  /**
   * The first row, or undefined. Takes the fast lane: one shared, pipelined connection where a slow statement
   * would hold up all others, so this is for look-ups by key that answer in microseconds.
   */
  one<Values extends object, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row | undefined>
  /** The row that an insert returns. */
  insert<Values extends object, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row>
  /** The row that an update returns, or a lock. Throws when the record is gone; the kernel then answers as its gates do. */
  update<Values extends object, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row>
  /** Deletes. Throws when the record is gone, as `update` does. */
  remove<Values extends object>(statement: Statement<Values, unknown>, values: Values): Promise<void>
  /** All rows. Takes a connection of the pool. */
  rows<Values extends object, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]>
  /** One page of a list, and its total as far as it is published. */
  page<Values extends { limit: number }, Row>(
    list: PageStatement<Values, Row>,
    values: Values,
  ): Promise<Listed<Row>>
  /** The number of rows it touched. */
  run<Values extends object>(statement: Statement<Values, unknown>, values: Values): Promise<number>
  /** The rows of a query without parameters as CSV with a header, streamed. Outside a transaction. */
  copy(query: Sql): AsyncIterable<Buffer>
  /** Lists that call `count` for each text as it arrives: what it throws ends the statement. Outside a transaction. */
  counted(count: CountText): Pick<Db, 'rows' | 'page'>
  /** Runs a script of several statements that answers nothing: migrations. */
  script(text: string): Promise<void>
  /**
   * All of `work` or nothing. Inside, `tx` must be used for everything. On a `snapshot` it sees the moment it began, and
   * fails with an error that `isOvertaken` when it writes what another has changed since.
   */
  transaction<Result>(work: (tx: Db) => Promise<Result>, options?: { snapshot?: boolean }): Promise<Result>
}
