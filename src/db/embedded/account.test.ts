import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  firstOutput,
  isLinux,
  isRoot,
  makeDirectory,
  query,
  runChild,
  start,
} from '../../../test/support/embedded_fixtures.ts'

const asStranger = ['setpriv', '--reuid', '12345', '--regid', '12345', '--clear-groups']
const withoutSetuid = ['setpriv', '--bounding-set=-setuid,-setfcap', '--inh-caps=-setuid,-setfcap']

function succeeds([file = '', ...args]: string[]): boolean {
  return spawnSync(file, args, { stdio: 'ignore' }).status === 0
}

const rootOnly = { skip: isRoot && isLinux ? false : 'needs root on Linux' }
const canBecomeStranger = isRoot && succeeds([...asStranger, 'test', '-r', import.meta.filename])
const strangerOnly = {
  skip: canBecomeStranger ? false : 'needs root, setpriv and a checkout that everybody can read',
}
const dropOnly = { skip: isRoot && succeeds([...withoutSetuid, 'true']) ? false : 'needs root and setpriv' }

/** A child that starts, says what it got, and stops. */
const tryOnce = `
  try {
    const server = await startEmbedded({ dataDir })
    const client = new Client(server.connection)
    await client.connect()
    console.log('started as', (await client.query('select current_user as user')).rows[0].user)
    await client.end()
    await server.stop()
  } catch (error) {
    console.log('refused:', error.message)
  }`

void test('root runs the server as somebody else, below a private directory too', rootOnly, async (t) => {
  const home = join(makeDirectory(t), 'home')
  mkdirSync(home)
  chmodSync(home, 0o700)
  const dataDir = join(home, 'data')
  const first = await start(t, dataDir)
  await query(first.connection, 'create table kept as select 42 as answer')
  const { uid } = statSync(join(dataDir, 'postgres'))
  assert.notEqual(uid, 0)
  await first.stop()
  const second = await start(t, dataDir)
  assert.deepEqual(await query(second.connection, 'select answer from kept'), [{ answer: 42 }])
})

void test('root keeps the owner that a database has', rootOnly, async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  await (await start(t, dataDir)).stop()
  const before = statSync(join(dataDir, 'postgres'))
  assert.equal(spawnSync('chown', ['-R', '23456:23456', join(dataDir, 'postgres')]).status, 0)
  const server = await start(t, dataDir)
  assert.deepEqual(await query(server.connection, 'select 1 as one'), [{ one: 1 }])
  assert.notEqual(before.uid, 23_456)
  assert.equal(statSync(join(dataDir, 'postgres', 'postmaster.pid')).uid, 23_456)
})

void test('root takes over a database that was left to root', rootOnly, async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  await (await start(t, dataDir)).stop()
  assert.equal(spawnSync('chown', ['-R', '0:0', join(dataDir, 'postgres')]).status, 0)
  await start(t, dataDir)
  assert.notEqual(statSync(join(dataDir, 'postgres', 'PG_VERSION')).uid, 0)
})

void test('a user id without a name starts, or is told about DATABASE_URL', strangerOnly, async (t) => {
  const directory = makeDirectory(t)
  chownSync(directory, 12_345, 12_345)
  const said = await firstOutput(runChild(t, join(directory, 'data'), tryOnce, asStranger))
  const mapped = succeeds([
    ...asStranger,
    'unshare',
    '--user',
    '--map-user=65534',
    '--map-group=65534',
    'true',
  ])
  assert.match(said, mapped ? /^started as guildhall/ : /^refused: .*has no name.*DATABASE_URL/)
})

void test('a database of somebody else is refused with both user ids', strangerOnly, async (t) => {
  const directory = makeDirectory(t)
  await (await start(t, join(directory, 'data'))).stop()
  chownSync(join(directory, 'data'), 12_345, 12_345)
  chownSync(join(directory, 'data', 'guildhall.lock'), 12_345, 12_345)
  const said = await firstOutput(runChild(t, join(directory, 'data'), tryOnce, asStranger))
  const { uid } = statSync(join(directory, 'data', 'postgres'))
  assert.match(said, new RegExp(`^refused: .*belongs to user id ${uid}, but Guildhall runs as user id 12345`))
})

void test('root that may not become somebody else is told about DATABASE_URL', dropOnly, async (t) => {
  const said = await firstOutput(runChild(t, join(makeDirectory(t), 'data'), tryOnce, withoutSetuid))
  assert.match(said, /^refused: PostgreSQL refuses to run as root.*EPERM.*SETUID.*DATABASE_URL/)
})
