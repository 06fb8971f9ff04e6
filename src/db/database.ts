import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient, type Client, type ClientOptions, type Connection } from './client.ts'
import { startEmbedded, type Embedded } from './embedded/embedded.ts'
import { findSocketDirectory } from './embedded/socket.ts'
import { databaseName, userName } from './embedded/cluster.ts'

/** Where the data is: a server of one's own, or the one inside. */
export interface Place {
  readonly databaseUrl: string | undefined
  readonly dataDir: string
  readonly pgBinDir: string | undefined
}

export interface Database {
  readonly client: Client
  /** Closes the lanes, and stops the server inside when this process started it. */
  close(): Promise<void>
}

/** Milliseconds between two tries. */
const RETRY = 1_000

interface Options extends ClientOptions {
  /**
   * Use the server inside that another process of ours runs, if one does: for commands beside a running server. `wait`
   * waits for it: a worker that started the database would keep the server from it.
   */
  readonly join?: boolean | 'wait'
  readonly log: (line: string) => void
}

/** Opens the database, starting the one inside where there is no other. Throws, with what to change, when it cannot. */
export async function openDatabase(place: Place, options: Options): Promise<Database> {
  if (place.databaseUrl !== undefined) {
    const client = createClient({ connectionString: place.databaseUrl }, options)
    return { client, close: () => client.close() }
  }
  let running = options.join ? await joinRunning(place.dataDir, options) : undefined
  for (let waited = 0; running === undefined && options.join === 'wait'; waited += 1) {
    if (waited === 0) options.log('waiting for the server that runs the database')
    await sleep(RETRY)
    running = await joinRunning(place.dataDir, options)
  }
  return running ?? startInside(place, options)
}

async function joinRunning(dataDir: string, options: Options): Promise<Database | undefined> {
  const cluster = join(dataDir, 'postgres')
  const host = findSocketDirectory(cluster)
  if (host === undefined || !saysReady(cluster)) return undefined
  const client = createClient({ host, port: 5432, user: userName, database: databaseName }, options)
  try {
    await client.script('select')
    return { client, close: () => client.close() }
  } catch {
    await client.close().catch(() => {})
    return undefined
  }
}

function saysReady(cluster: string): boolean {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8').includes('ready')
  } catch {
    return false
  }
}

/** Starts the server inside and, should it end by itself, starts it again; until then every statement is refused. */
async function startInside(place: Place, options: Options): Promise<Database> {
  const start = (): Promise<Embedded> =>
    startEmbedded({
      dataDir: place.dataDir,
      log: options.log,
      ...(place.pgBinDir !== undefined && { binDir: place.pgBinDir }),
    })
  let server = await start()
  let closing = false
  const client = createClient(server.connection satisfies Connection, options)
  const watch = async (): Promise<void> => {
    while (!closing) {
      await server.exited
      if (closing) return
      options.log('the database ended by itself and is started again')
      await server.stop()
      server = await restart()
      client.moveTo(server.connection)
    }
  }
  const restart = async (): Promise<Embedded> => {
    for (;;) {
      try {
        return await start()
      } catch (error) {
        options.log(error instanceof Error ? error.message : String(error))
        await sleep(RETRY)
      }
    }
  }
  void watch()
  return {
    client,
    close: async () => {
      closing = true
      await client.close()
      await server.stop()
    },
  }
}
