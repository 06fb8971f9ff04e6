import pg from 'pg'
import { isHanging } from './errors.ts'
import { createLengths } from './lengths.ts'
import { createListener, type Listener } from './listener.ts'
import type { Listed, PageStatement } from './pages.ts'
import type { Statement } from './statement.ts'
import { types } from './types.ts'

/** Runs statements. Outside a transaction each call stands alone and is durable when it resolves. */
export interface Db {
  /**
   * The first row, or undefined. Takes the fast lane: one shared, pipelined connection where a slow statement
   * would hold up all others, so this is for look-ups by key that answer in microseconds.
   */
  one<Values extends object, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row | undefined>
  /** All rows. Takes a connection of the pool. */
  rows<Values extends object, Row>(statement: Statement<Values, Row>, values: Values): Promise<Row[]>
  /** One page of a list, and its total as far as it is published. */
  page<Values extends { limit: number }, Row>(
    list: PageStatement<Values, Row>,
    values: Values,
  ): Promise<Listed<Row>>
  /** The number of rows it touched. */
  run<Values extends object>(statement: Statement<Values, unknown>, values: Values): Promise<number>
  /** Runs a script of several statements that answers nothing: migrations. */
  script(text: string): Promise<void>
  /**
   * All of `work` or nothing. Inside, `tx` must be used for everything. On a `snapshot` it sees the moment it began, and
   * fails with an error that `isOvertaken` when it writes what another has changed since.
   */
  transaction<Result>(work: (tx: Db) => Promise<Result>, options?: { snapshot?: boolean }): Promise<Result>
}

export interface Connection {
  readonly connectionString?: string
  /** A host name, or the directory of a unix socket. */
  readonly host?: string
  readonly port?: number
  readonly user?: string
  readonly database?: string
}

export interface Client extends Db {
  /** A connection of its own that hears `NOTIFY channel`; calls back after each reconnect too. */
  listen(channel: string, heard: () => void): void
  readonly pool: pg.Pool
  /** New connections go there from now on. */
  moveTo(connection: Connection): void
  close(): Promise<void>
}

export interface ClientOptions {
  readonly poolSize?: number
  /** Switches the fast lane off: every statement takes a connection of the pool. */
  readonly pipeline?: boolean
  /** Milliseconds that a statement of either lane may take; past them it is ended. */
  readonly deadlines?: { readonly point: number; readonly statement: number }
  /** Called once for each statement sent. */
  readonly onStatement?: (name: string) => void
}

const DEADLINES = { point: 5_000, statement: 60_000 }
const CONNECT_TIMEOUT = 5_000
/** How much longer we wait than the database lets a statement run: past it the database hangs, and the connection is given up. */
const HANGING = 2_000
/** For scripts: an upgrade of a large database may take hours. How long is the database's matter. */
const PATIENCE = 86_400_000

/** Opens the lanes lazily: nothing connects before the first statement. */
export function createClient(connection: Connection, options: ClientOptions = {}): Client {
  const { onStatement = () => {}, deadlines = DEADLINES } = options
  const settings = { ...connection, types, connectionTimeoutMillis: CONNECT_TIMEOUT, keepAlive: true }
  const pool = new pg.Pool({
    ...settings,
    max: options.poolSize ?? 8,
    statement_timeout: deadlines.statement,
    query_timeout: deadlines.statement + HANGING,
  })
  // A connection that dies idle is replaced by the pool; without a listener the event would end the process.
  pool.on('error', () => {})
  pool.on('connect', (client) => client.on('error', () => {}))
  const lane = options.pipeline === false ? pool : createLane(settings, deadlines.point)
  const listeners: Listener[] = []
  const db = over(pool, lane, onStatement)

  return {
    ...db,
    pool,
    transaction: async (work, { snapshot = false } = {}) => {
      const client = await pool.connect()
      let broken: Error | undefined
      try {
        // The snapshot is that of the first statement: taken here, before anything is looked at.
        await client.query(snapshot ? 'begin isolation level repeatable read; select 1' : 'begin')
        const result = await work(over(client, client, onStatement))
        // After an error that `work` kept to itself the server answers a commit by rolling back, and says so only here.
        if ((await client.query('commit')).command !== 'COMMIT')
          throw new Error('a transaction was rolled back')
        return result
      } catch (error) {
        // Behind a statement that hangs a rollback would hang too.
        if (isHanging(error)) broken = error
        else await client.query('rollback').catch((failure: Error) => (broken = failure))
        throw error
      } finally {
        client.release(broken)
      }
    },
    moveTo: (next) => {
      Object.assign(settings, next)
      Object.assign(pool.options, next)
    },
    listen: (channel, heard) => listeners.push(createListener(settings, channel, heard)),
    close: async () => {
      await Promise.all([
        pool.end(),
        lane === pool ? undefined : lane.end(),
        ...listeners.map((l) => l.end()),
      ])
    },
  }
}

interface Queryable {
  query(config: Sent): Promise<pg.QueryResult>
}
interface Scriptable extends Queryable {
  query(config: Script | Sent): Promise<pg.QueryResult>
}
interface Script {
  readonly text: string
  readonly query_timeout: number
}
interface Sent {
  readonly name?: string
  readonly text: string
  readonly values: unknown[]
}

function over(connections: Scriptable, points: Queryable, onStatement: (name: string) => void): Db {
  const send = (
    to: Queryable,
    { name, text, bind, planned }: Statement<never, unknown>,
    values: object,
  ): Promise<pg.QueryResult> => {
    onStatement(name)
    // What has no name is planned each time, for the values that come with it.
    const bound = bind(values as never)
    return to.query(planned === undefined ? { name, text, values: bound } : { text, values: bound })
  }
  const rows: Db['rows'] = async (statement, values) => taken(await send(connections, statement, values))
  const lengths = createLengths()
  return {
    one: async (statement, values) => taken(await send(points, statement, values))[0],
    rows,
    page: (list, values) => lengths.page(list, values, (statement) => rows(statement, values)),
    run: async (statement, values) => (await send(connections, statement, values)).rowCount ?? 0,
    script: async (text) => {
      await connections.query({ text, query_timeout: PATIENCE })
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

interface Lane extends Queryable {
  end(): Promise<void>
}

/** One pipelined connection, made anew after it is lost. What was on its way when it was lost is rejected. */
function createLane(settings: pg.ClientConfig, deadline: number): Lane {
  let current: Promise<pg.Client> | undefined
  let closed = false
  const open = (): Promise<pg.Client> => {
    const client = new pg.Client({
      ...settings,
      pipeline: true,
      statement_timeout: deadline,
      query_timeout: deadline + HANGING,
      // A look-up by key has one good plan; to plan it anew would take ten times as long as to run it.
      options: '-c plan_cache_mode=force_generic_plan',
    })
    const opening = client.connect().then(() => client)
    const drop = (): void => {
      if (current === opening) current = undefined
    }
    client.on('error', drop)
    client.on('end', drop)
    opening.catch(drop)
    return (current = opening)
  }
  return {
    query: async (config) => {
      if (closed) throw new Error('Connection terminated')
      const opening = current ?? open()
      try {
        return await (await opening).query(config)
      } catch (error) {
        // The driver has ended the connection, and would tell so a moment later.
        if (isHanging(error) && current === opening) current = undefined
        throw error
      }
    },
    end: async () => {
      closed = true
      const client = await current?.catch(() => undefined)
      await client?.end()
    },
  }
}
