import assert from 'node:assert/strict'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startEmbedded } from './embedded.ts'
import {
  end,
  makeDirectory,
  query,
  runHolder,
  start,
  unfinished,
} from '../../../test/support/embedded_fixtures.ts'

const systemBinaries = existsSync('/usr/lib/postgresql')
  ? readdirSync('/usr/lib/postgresql').map((version) => `/usr/lib/postgresql/${version}/bin`)
  : []
const systemBinDir = systemBinaries.find((directory) => existsSync(join(directory, 'initdb')))

void test('a first start creates the database and a later one finds its rows', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const began = performance.now()
  const first = await start(t, dataDir)
  const cold = performance.now() - began
  assert.match(first.version, /^\d+\.\d+/)
  await query(first.connection, 'create table kept as select 42 as answer')
  await first.stop()
  const again = performance.now()
  const second = await start(t, dataDir)
  const warm = performance.now() - again
  assert.deepEqual(await query(second.connection, 'select answer from kept'), [{ answer: 42 }])
  t.diagnostic(`cold ${cold.toFixed()} ms, warm ${warm.toFixed()} ms`)
  assert.ok(warm < cold, 'the second start creates nothing')
})

void test(
  'crash recovery syncs the file system by one call',
  { skip: process.platform !== 'linux' },
  async (t) => {
    const { connection } = await start(t, join(makeDirectory(t), 'data'))
    assert.deepEqual(await query(connection, 'show recovery_init_sync_method'), [
      { recovery_init_sync_method: 'syncfs' },
    ])
  },
)

void test('the server is private, durable and reachable by its socket only', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const { connection } = await start(t, dataDir)
  const names = [
    'listen_addresses',
    'fsync',
    'full_page_writes',
    'synchronous_commit',
    'server_encoding',
    'TimeZone',
  ]
  const shown = names.map((name) => `current_setting('${name}') as "${name}"`).join(', ')
  assert.deepEqual(await query(connection, `select ${shown}, current_user, current_database()`), [
    {
      listen_addresses: '',
      fsync: 'on',
      full_page_writes: 'on',
      synchronous_commit: 'on',
      server_encoding: 'UTF8',
      TimeZone: 'UTC',
      current_user: 'guildhall',
      current_database: 'guildhall',
    },
  ])
  assert.equal(statSync(join(dataDir, 'postgres')).mode & 0o777, 0o700)
  assert.equal(statSync(join(dataDir, 'postgres', '.s.PGSQL.5432')).mode & 0o777, 0o700)
})

void test('letters beyond ASCII are sorted by code point and found by full-text search', async (t) => {
  const { connection } = await start(t, join(makeDirectory(t), 'data'))
  const rows = await query(
    connection,
    `select lower('ÄÖÜ') as lower, to_tsvector('simple', 'Ärger Übung')::text as words`,
  )
  assert.deepEqual(rows, [{ lower: 'äöü', words: "'ärger':1 'übung':2" }])
})

void test('stopping twice, and at once, is stopping', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const server = await start(t, dataDir)
  await Promise.all([server.stop(), server.stop()])
  await server.stop()
  assert.equal(existsSync(join(dataDir, 'postgres', 'postmaster.pid')), false)
})

void test('a second server on the same data directory is refused, and the first goes on', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const first = await start(t, dataDir)
  await assert.rejects(startEmbedded({ dataDir }), (error: Error) => {
    assert.ok(error.message.includes(dataDir), error.message)
    assert.match(error.message, /another Guildhall \(process \d+\).*GUILDHALL_DATA_DIR/)
    return true
  })
  assert.deepEqual(await query(first.connection, 'select 1 as one'), [{ one: 1 }])
  await first.stop()
  await start(t, dataDir)
})

void test('a server that another process holds is refused until that process is gone', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const holder = await runHolder(t, dataDir)
  await assert.rejects(startEmbedded({ dataDir }), new RegExp(`process ${holder.pid}`))
  await end(holder)
  const { connection } = await start(t, dataDir)
  assert.deepEqual(await query(connection, 'select word from kept'), [{ word: 'acknowledged' }])
})

void test('of several servers that start at once on a new data directory exactly one runs', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const attempts = await Promise.allSettled([1, 2, 3, 4].map(() => start(t, dataDir)))
  assert.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 1)
})

void test('a database of another major version is refused with instructions and left alone', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const server = await start(t, dataDir)
  await server.stop()
  const file = join(dataDir, 'postgres', 'PG_VERSION')
  const version = readFileSync(file, 'utf8')
  writeFileSync(file, '12\n')
  await assert.rejects(
    startEmbedded({ dataDir }),
    /made by PostgreSQL 12.*PG_BIN_DIR.*pg_dump.*pg_restore.*DATABASE_URL/s,
  )
  writeFileSync(file, version)
  await start(t, dataDir)
})

void test('a path longer than a socket name may be works and leaves nothing behind', async (t) => {
  const dataDir = join(makeDirectory(t), 'long-'.repeat(24), 'data')
  const server = await start(t, dataDir)
  const { host } = server.connection
  assert.ok(Buffer.byteLength(host) < 80, host)
  assert.deepEqual(await query(server.connection, 'select 1 as one'), [{ one: 1 }])
  await server.stop()
  assert.equal(existsSync(join(host, '..')), false)
})

void test('a path with spaces, quotes and other letters works', async (t) => {
  const { connection } = await start(t, join(makeDirectory(t), `o'Neil "$HOME" ünder`, 'data'))
  assert.deepEqual(await query(connection, 'select 1 as one'), [{ one: 1 }])
})

void test('files that are no database are not touched', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  mkdirSync(join(dataDir, 'postgres'), { recursive: true })
  writeFileSync(join(dataDir, 'postgres', 'diary.txt'), 'mine')
  await assert.rejects(startEmbedded({ dataDir }), /holds files but no database/)
  assert.deepEqual(unfinished(dataDir), [])
  assert.equal(readFileSync(join(dataDir, 'postgres', 'diary.txt'), 'utf8'), 'mine')
})

void test('a start that fails tells the last lines of the log and frees the data directory', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  await (await start(t, dataDir)).stop()
  const file = join(dataDir, 'postgres', 'postgresql.conf')
  const settings = readFileSync(file, 'utf8')
  appendFileSync(file, 'no_such_setting = 1\n')
  await assert.rejects(startEmbedded({ dataDir }), /did not start.*no_such_setting/s)
  writeFileSync(file, settings)
  await start(t, dataDir)
})

void test('the log is bounded at the start', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  mkdirSync(dataDir)
  writeFileSync(join(dataDir, 'postgres.log'), 'x'.repeat(5_000_000))
  await start(t, dataDir)
  assert.ok(statSync(join(dataDir, 'postgres.log')).size < 100_000)
  assert.equal(statSync(join(dataDir, 'postgres.log.1')).size, 5_000_000)
})

void test('system binaries are used when asked for', { skip: systemBinDir === undefined }, async (t) => {
  const { version, connection } = await start(t, join(makeDirectory(t), 'data'), systemBinDir)
  const [row] = await query(
    connection,
    `select split_part(current_setting('server_version'), ' ', 1) as version`,
  )
  assert.deepEqual(row, { version })
})

void test('a folder without binaries is refused by the name of its setting', async (t) => {
  const directory = makeDirectory(t)
  const started = startEmbedded({ dataDir: join(directory, 'data'), binDir: directory })
  await assert.rejects(started, /PG_BIN_DIR.*ENOENT/)
})
