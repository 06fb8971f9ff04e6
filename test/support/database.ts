import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { createClient, type Connection } from '../../src/db/client.ts'
import { startEmbedded } from '../../src/db/embedded/embedded.ts'
import { migrate } from '../../src/db/migrate.ts'
import { migrateQueue } from '../../src/jobs/queue.ts'

const TEMPLATE = 'guildhall_template'

/** A server for tests with an up-to-date template database; every test file copies it. */
export interface TestServer {
  readonly connection: Connection
  stop(): Promise<void>
}

export async function startTestServer(): Promise<TestServer> {
  const dataDir = await mkdtemp(join(tmpdir(), 'guildhall-test-'))
  const binDir = process.env['PG_BIN_DIR']
  const embedded = await startEmbedded({
    dataDir,
    connections: 200,
    ...(binDir !== undefined && { binDir }),
  })
  const admin = createClient(embedded.connection)
  // Plans are the same in each run: they hang on nothing that comes by when it likes. Once it had passed over a table that
  // was empty, its triggers read all of it for each of thousands of rows.
  await admin.script('alter system set autovacuum = off')
  await admin.script('select pg_reload_conf()')
  await admin.script(`create database ${TEMPLATE}`)
  await admin.close()
  const template = createClient({ ...embedded.connection, database: TEMPLATE })
  await migrate(template)
  await migrateQueue(template)
  await template.close()
  return {
    connection: embedded.connection,
    stop: async () => {
      await embedded.stop()
      await rm(dataDir, { recursive: true, force: true })
    },
  }
}

/** How a run tells its test files of the one server that all share. */
export const SERVER_VARIABLE = 'GUILDHALL_TEST_SERVER'

/** A database of its own for one test file, as `DATABASE_URL` would name it, gone with `drop`. */
export async function createTestDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const shared = process.env[SERVER_VARIABLE]
  const server = shared === undefined ? await startTestServer() : undefined
  const connection = server?.connection ?? (JSON.parse(shared ?? '{}') as Connection)
  const name = `test_${process.pid}_${randomBytes(6).toString('hex')}`
  await asAdmin(connection, `create database ${name} template ${TEMPLATE} ${await copying(connection)}`)
  const url = `postgres://${connection.user}@/${name}?host=${encodeURIComponent(connection.host ?? '')}&port=${connection.port}`
  return {
    url,
    drop: async () => {
      await asAdmin(connection, `drop database ${name} with (force)`)
      await server?.stop()
    },
  }
}

async function asAdmin(connection: Connection, text: string): Promise<void> {
  const client = new pg.Client(connection)
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

/** PostgreSQL 14 knows one way to copy a database; later ones are told to take that. */
async function copying(connection: Connection): Promise<string> {
  const client = new pg.Client(connection)
  await client.connect()
  const { rows } = await client.query<{ version: string }>('show server_version_num')
  await client.end()
  return Number(rows[0]?.version) >= 150_000 ? 'strategy file_copy' : ''
}
