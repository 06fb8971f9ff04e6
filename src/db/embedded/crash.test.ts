import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Embedded } from './embedded.ts'
import {
  clusterOwner,
  end,
  firstOutput,
  isAlive,
  isLinux,
  makeDirectory,
  processState,
  query,
  runChild,
  runHolder,
  serverPid,
  start,
  unfinished,
  until,
} from '../../../test/support/embedded_fixtures.ts'

const linuxOnly = { skip: isLinux ? false : 'reads /proc' }

async function startAfterCrash(t: TestContext, dataDir: string): Promise<Embedded> {
  const began = performance.now()
  const server = await start(t, dataDir)
  t.diagnostic(`start after the crash ${(performance.now() - began).toFixed()} ms`)
  assert.deepEqual(await query(server.connection, 'select word from kept'), [{ word: 'acknowledged' }])
  return server
}

async function waitForEnd(t: TestContext, pid: number): Promise<void> {
  const began = performance.now()
  await until('the server ends', () => !isAlive(pid))
  t.diagnostic(`server gone after ${(performance.now() - began).toFixed()} ms`)
}

void test('the server ends soon after a kill -9 of its holder, and acknowledged rows are kept', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const holder = await runHolder(t, dataDir)
  const pid = serverPid(dataDir)
  process.kill(holder.pid, 'SIGKILL')
  await waitForEnd(t, pid)
  await startAfterCrash(t, dataDir)
})

void test('the server ends soon after a kill -9 of the whole process group', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const holder = await runHolder(t, dataDir)
  const pid = serverPid(dataDir)
  process.kill(-holder.pid, 'SIGKILL')
  await waitForEnd(t, pid)
  await startAfterCrash(t, dataDir)
})

void test('a start right after a kill -9 waits for the old server by itself', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const holder = await runHolder(t, dataDir)
  process.kill(-holder.pid, 'SIGKILL')
  await startAfterCrash(t, dataDir)
})

void test('after a kill -9 of holder and server together the next start recovers', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const holder = await runHolder(t, dataDir)
  const pid = serverPid(dataDir)
  process.kill(-holder.pid, 'SIGKILL')
  process.kill(-pid, 'SIGKILL')
  await startAfterCrash(t, dataDir)
})

void test('Ctrl-C reaches the holder only, which can still use the database', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const more = `process.on('SIGINT', async () => {
    await new Promise((resolve) => setTimeout(resolve, 200))
    console.log('drained', (await client.query('select word from kept')).rows[0].word)
  })`
  const holder = await runHolder(t, dataDir, more)
  process.kill(-holder.pid, 'SIGINT')
  assert.equal((await firstOutput(holder)).trim(), 'drained acknowledged')
})

void test(
  'a server that lost its watcher and its holder is stopped by the next start',
  linuxOnly,
  async (t) => {
    const dataDir = join(makeDirectory(t), 'data')
    const holder = await runHolder(t, dataDir)
    const pid = serverPid(dataDir)
    for (const watcher of shellsInSession(pid)) process.kill(watcher, 'SIGKILL')
    process.kill(holder.pid, 'SIGKILL')
    await sleep(300)
    assert.ok(isAlive(pid), 'nothing stops it before the next start')
    await startAfterCrash(t, dataDir)
    assert.equal(isAlive(pid), false)
  },
)

function shellsInSession(session: number): number[] {
  return readdirSync('/proc').flatMap((entry) => {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'utf8')
      const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      return stat.includes('(sh)') && Number(fields[3]) === session ? [Number(entry)] : []
    } catch {
      return []
    }
  })
}

const lockFiles = ['postmaster.pid', '.s.PGSQL.5432.lock']

/** Leaves both lock files as a killed server would, but with another process in them. */
async function leaveLockFiles(t: TestContext, dataDir: string): Promise<(pid: number) => void> {
  const server = await start(t, dataDir)
  await query(server.connection, `create table kept as select 'acknowledged' as word`)
  const contents = lockFiles.map((name) => readFileSync(join(dataDir, 'postgres', name), 'utf8'))
  await server.stop()
  return (pid) => {
    for (const [index, name] of lockFiles.entries()) {
      const text = contents[index]?.replace(/^\d+/, String(pid)) ?? ''
      writeFileSync(join(dataDir, 'postgres', name), text)
    }
  }
}

void test('lock files that name a living stranger of the same user do not hinder a start', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const leave = await leaveLockFiles(t, dataDir)
  const stranger = spawn('sleep', ['60'], { ...clusterOwner(dataDir), stdio: 'ignore' })
  t.after(() => stranger.kill('SIGKILL'))
  leave(stranger.pid ?? 0)
  await startAfterCrash(t, dataDir)
  assert.ok(isAlive(stranger.pid ?? 0), 'the stranger is left alone')
})

void test('lock files that name a zombie do not hinder a start', linuxOnly, async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const leave = await leaveLockFiles(t, dataDir)
  const script = `sh -c 'echo $$' & exec sleep 60`
  const parent = spawn('/bin/sh', ['-c', script], {
    ...clusterOwner(dataDir),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  t.after(() => parent.kill('SIGKILL'))
  const zombie = Number(await firstOutput(parent))
  await until('the child becomes a zombie', () => processState(zombie) === 'Z')
  leave(zombie)
  await startAfterCrash(t, dataDir)
})

void test('lock files that a crash left empty do not hinder a start', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  await leaveLockFiles(t, dataDir)
  for (const name of lockFiles) writeFileSync(join(dataDir, 'postgres', name), '')
  await startAfterCrash(t, dataDir)
})

void test('a creation that was killed half-way is done again by the next start', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const child = runChild(t, dataDir, 'await startEmbedded({ dataDir })')
  const half = () => unfinished(dataDir).some((name) => readdirSync(join(dataDir, name)).includes('global'))
  await until('initdb is under way', half)
  await end(child)
  const server = await start(t, dataDir)
  assert.deepEqual(await query(server.connection, 'select 1 as one'), [{ one: 1 }])
  assert.deepEqual(unfinished(dataDir), [])
})

void test('a crash of the server alone is told, and the data directory can be started again', async (t) => {
  const dataDir = join(makeDirectory(t), 'data')
  const server = await start(t, dataDir)
  await query(server.connection, `create table kept as select 'acknowledged' as word`)
  process.kill(serverPid(dataDir), 'SIGKILL')
  await server.exited
  await server.stop()
  await startAfterCrash(t, dataDir)
})
