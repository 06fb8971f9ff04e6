import pg from 'pg'
import { copyOut } from './copying.ts'
import type { Db } from './db.ts'
import { countedTypes } from './schema/counted_types.ts'
import { isHanging } from './errors.ts'
import { HANGING, createLane } from './lane.ts'
import { createListener, type Listener, type LockKeys } from './listener.ts'
import { SESSION, isFull, keepPlan, planFor, type Sent } from './planning.ts'
import { over, type Script, type Scriptable } from './sending.ts'
import { types } from './schema/types.ts'

export interface Connection {
  readonly connectionString?: string
  /** A host name, or the directory of a unix socket. */
  readonly host?: string
  readonly port?: number
  readonly user?: string
  readonly database?: string
}

export interface Client extends Db {
  /**
   * A connection of its own that hears `NOTIFY channel`; calls back after each reconnect too. It holds the shared
   * advisory lock `holds` as long as it lives.
   */
  listen(channel: string, heard: () => void, holds?: LockKeys): Listener
  /** Opens a connection of its own, without deadlines, that the caller ends. */
  connect(): Promise<pg.Client>
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
  /** Milliseconds that a statement may wait for a connection. */
  readonly patience?: number
  /** Called once for each statement sent. */
  readonly onStatement?: (name: string) => void
}

const DEADLINES = { point: 5_000, statement: 60_000 }
const CONNECT_TIMEOUT = 5_000

/** Opens the lanes lazily: nothing connects before the first statement. */
export function createClient(connection: Connection, options: ClientOptions = {}): Client {
  const { onStatement = () => {}, deadlines = DEADLINES, patience = CONNECT_TIMEOUT } = options
  const settings = {
    ...connection,
    types,
    options: SESSION,
    connectionTimeoutMillis: patience,
    keepAlive: true,
  }
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
  const connections = borrowing(pool)
  const db: Db = {
    ...over(connections, lane, onStatement),
    copy: (query) => copyOut(settings, query),
    transaction: (work, { snapshot = false } = {}) => transact(pool, work, { snapshot, onStatement }),
    counted: (count) => over(connections, lane, onStatement, countedTypes(count)),
  }

  return {
    ...db,
    connect: () => connectAlone(settings),
    pool,
    moveTo: (next) => {
      Object.assign(settings, next)
      Object.assign(pool.options, next)
    },
    listen: (channel, heard, holds) => {
      const listener = createListener(settings, { channel, heard, holds })
      listeners.push(listener)
      return listener
    },
    close: async () => {
      await Promise.all([
        pool.end(),
        lane === pool ? undefined : lane.end(),
        ...listeners.map((l) => l.end()),
      ])
    },
  }
}

async function connectAlone(settings: pg.ClientConfig): Promise<pg.Client> {
  const client = new pg.Client({ ...settings, statement_timeout: 0 })
  // A lost connection fails its query; without a listener the event would end the process.
  client.on('error', () => {})
  await client.connect()
  return client
}

interface Transacting {
  readonly snapshot: boolean
  readonly onStatement: (name: string) => void
}
async function transact<Result>(
  pool: pg.Pool,
  work: (tx: Db) => Promise<Result>,
  { snapshot, onStatement }: Transacting,
): Promise<Result> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await planFor(client, false)
    // The snapshot is that of the first statement: taken here, before anything is looked at.
    await client.query(snapshot ? 'begin isolation level repeatable read; select 1' : 'begin')
    const own = keeping(client)
    const result = await work(over(own, own, onStatement))
    // After an error that `work` kept to itself the server answers a commit by rolling back, and says so only here.
    if ((await client.query('commit')).command !== 'COMMIT') throw new Error('a transaction was rolled back')
    return result
  } catch (error) {
    // Behind a statement that hangs a rollback would hang too.
    if (isHanging(error)) broken = error
    else await client.query('rollback').catch((failure: Error) => (broken = failure))
    throw error
  } finally {
    client.release(broken ?? isFull(client))
  }
}

/** A connection, and what it has planned. */
const keeping = (client: pg.PoolClient): Scriptable => ({
  query: (config: Script | Sent) => {
    keepPlan(client, config)
    return client.query(config)
  },
})

/** Each statement on a connection of its own. */
function borrowing(pool: pg.Pool): Scriptable {
  return {
    query: async (config: Script | Sent) => {
      const client = await pool.connect()
      let broken: Error | undefined
      try {
        if ('values' in config) await planFor(client, config.name === undefined)
        return await keeping(client).query(config)
      } catch (error) {
        if (isHanging(error)) broken = error
        throw error
      } finally {
        client.release(broken ?? isFull(client))
      }
    },
  }
}
