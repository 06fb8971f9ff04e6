import type pg from 'pg'
import type { Db } from './db.ts'
import type { Queryable } from './lane.ts'
import { listed } from './pages.ts'
import type { Sent } from './planning.ts'
import type { Statement } from './statement.ts'

/** For scripts: an upgrade of a large database may take hours. How long is the database's matter. */
const PATIENCE = 86_400_000

export interface Scriptable extends Queryable {
  query(config: Script | Sent): Promise<pg.QueryResult>
}
export interface Script {
  readonly text: string
  readonly query_timeout: number
}

/** The operations of a database over connections for lists and scripts, and another for single rows. */
export function over(
  connections: Scriptable,
  points: Queryable,
  onStatement: (name: string) => void,
  types?: pg.CustomTypesConfig,
): Db {
  const send = (
    to: Queryable,
    { name, text, bind, planned }: Statement<never, unknown>,
    values: object,
  ): Promise<pg.QueryResult> => {
    onStatement(name)
    const bound = bind(values as never)
    const sent = planned === undefined ? { name, text, values: bound } : { text, values: bound }
    return to.query(types === undefined ? sent : Object.assign(sent, { types }))
  }
  const rows: Db['rows'] = async (statement, values) => taken(await send(connections, statement, values))
  const one: Db['one'] = async (statement, values) => taken(await send(points, statement, values))[0]
  const run: Db['run'] = async (statement, values) =>
    (await send(connections, statement, values)).rowCount ?? 0
  const written: Db['insert'] = async (statement, values) => {
    const row = await one(statement, values)
    if (row === undefined) throw new Error(`no row was written: ${statement.text.trim().slice(0, 60)}`)
    return row
  }
  return {
    one,
    insert: written,
    update: written,
    remove: async (statement, values) => {
      if ((await run(statement, values)) === 0)
        throw new Error(`no row was deleted: ${statement.text.trim().slice(0, 60)}`)
    },
    rows,
    page: async (list, values) => listed(await rows(list, values)),
    run,
    script: async (text) => {
      await connections.query({ text, query_timeout: PATIENCE })
    },
    copy: () => {
      throw new Error('COPY stands inside a transaction')
    },
    counted: () => {
      throw new Error('lists are counted outside transactions')
    },
    transaction: () => {
      throw new Error('a transaction stands inside a transaction')
    },
  }
}

/**
 * Takes the rows out of an answer: the driver's own object outlives its request, and while it held the rows they were
 * collected as old: half of all collecting.
 */
function taken(result: pg.QueryResult): pg.QueryResult['rows'] {
  const { rows } = result
  result.rows = []
  result.fields = []
  return rows
}
