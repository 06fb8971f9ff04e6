import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { gitText, initRepository, scratch, writeProgram } from '../../../test/support/git_fixtures.ts'
import { Spawner } from './spawner.ts'

const root = scratch()
const directory = join(root, 'r.git')
initRepository(directory)
const path = '/usr/local/bin:/usr/bin:/bin'

function openSpawner(binary = 'git', width = 8): Spawner {
  const spawner = new Spawner({ binary, path, width, slowWidth: 1, onDeath: () => undefined })
  after(() => spawner.close())
  return spawner
}

function isAlive(pid: number): boolean {
  // A zombie has ended; only nobody has asked for its status yet.
  return existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (let round = 0; round < 300; round += 1) {
    if (condition()) return
    await sleep(20)
  }
  assert.fail(`never: ${what}`)
}

async function pidIn(file: string): Promise<number> {
  await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'), `a pid in ${file}`)
  return Number(readFileSync(file, 'utf8'))
}

const real = openSpawner()
const id = (n: number): string => join(root, `pid-${n}`)
const stubborn = (n: number): string =>
  writeProgram(root, `stubborn-${n}`, `trap '' TERM PIPE HUP\nsleep 100 &\necho $! > ${id(n)}\nwait\nwait`)

void test('a command gives its whole output, and takes input', async () => {
  assert.match((await real.run(['version'])).toString(), /^git version /)
  const big = Buffer.alloc(20_000_000, 'x')
  const sha = (
    await real.run(['hash-object', '-w', '--stdin'], { gitDirectory: directory, input: big })
  ).toString()
  const back = await real.run(['cat-file', 'blob', sha.trim()], { gitDirectory: directory })
  assert.ok(back.equals(big))
  assert.equal((await real.run(['hash-object', '--stdin'], { input: '' })).toString().length, 41)
})

void test('commands that end at once without a word are all heard of', async () => {
  const silent = openSpawner(writeProgram(root, 'silent', 'exit 0'))
  for (let round = 0; round < 40; round += 1) {
    const all = Array.from({ length: 5 }, () => silent.run(['x']))
    assert.deepEqual(await Promise.all(all), Array(5).fill(Buffer.alloc(0)))
  }
})

void test('a failing command tells its status and the tail of stderr', async () => {
  await assert.rejects(real.run(['rev-parse', '--verify', 'nope'], { gitDirectory: directory }), {
    name: 'GitError',
    fault: 'exit',
    code: 128,
    stderr: /fatal: Needed a single revision/,
  })
  const noisy = openSpawner(
    writeProgram(root, 'noisy', 'head -c 1000000 /dev/zero | tr "\\0" e >&2; echo END >&2; exit 3'),
  )
  await assert.rejects(noisy.run(['x']), (error: { code: number; stderr: string }) => {
    assert.equal(error.code, 3)
    assert.equal(error.stderr.length, 16 * 1024)
    return error.stderr.endsWith('eEND\n')
  })
})

void test('a program that is not there, and arguments no process can take, are errors of their own', async () => {
  await assert.rejects(openSpawner(join(root, 'absent')).run(['x']), { fault: 'spawn' })
  await assert.rejects(real.run(['log', 'a\0b']), { fault: 'spawn' })
  await assert.rejects(real.run(['log', 'x'.repeat(3_000_000)]), { fault: 'spawn' })
  assert.match((await real.run(['version'])).toString(), /^git version /)
})

void test('git sees nothing of the environment but what it is given', async () => {
  const printer = openSpawner(writeProgram(root, 'printer', 'env'))
  const names = (await printer.run(['x']))
    .toString()
    .split('\n')
    .map((line) => line.replace(/=.*/, ''))
  const expected = [
    'HOME',
    'PATH',
    'LC_ALL',
    'GIT_CONFIG_NOSYSTEM',
    'GIT_CONFIG_GLOBAL',
    'GIT_LITERAL_PATHSPECS',
  ]
  for (const name of expected) assert.ok(names.includes(name), name)
  assert.deepEqual(
    names.filter((name) => !/^(?:GIT_\w+|HOME|PATH|LC_ALL|PWD|_|SHLVL|OLDPWD|)$/.test(name)),
    [],
  )
})

void test('past its time a command is killed with all that it started', async () => {
  const slow = openSpawner(stubborn(1))
  await assert.rejects(slow.run(['x'], { timeoutMs: 300 }), { fault: 'timeout' })
  const pid = await pidIn(id(1))
  await until(() => !isAlive(pid), 'the end of the grandchild')
})

void test('past its bytes a command is killed', async () => {
  const endless = openSpawner(writeProgram(root, 'endless', 'exec yes'))
  await assert.rejects(endless.run(['x'], { maxBytes: 1_000_000 }), { fault: 'too_large' })
})

void test('an abort kills the command, and one that waits is never started', async () => {
  const slow = openSpawner(stubborn(2), 1)
  const first = new AbortController()
  const second = new AbortController()
  const running = slow.run(['x'], { signal: first.signal })
  const waiting = slow.run(['x'], { signal: second.signal })
  running.catch(() => undefined)
  const pid = await pidIn(id(2))
  second.abort()
  await assert.rejects(waiting, { fault: 'aborted' })
  first.abort()
  await assert.rejects(running, { fault: 'aborted' })
  await until(() => !isAlive(pid), 'the end of the grandchild')
  await assert.rejects(slow.run(['x'], { signal: AbortSignal.abort() }), { fault: 'aborted' })
})

void test('no more commands run at once than there are places', async () => {
  const log = join(root, 'width.log')
  const program = writeProgram(root, 'width', `echo + >> ${log}; sleep 0.05; echo - >> ${log}`)
  const narrow = openSpawner(program, 3)
  await Promise.all(Array.from({ length: 12 }, () => narrow.run(['x'])))
  let inside = 0
  let most = 0
  for (const mark of readFileSync(log, 'utf8').trim().split('\n')) {
    inside += mark === '+' ? 1 : -1
    most = Math.max(most, inside)
  }
  assert.equal(inside, 0)
  assert.ok(most <= 3 && most >= 2, String(most))
})

void test('a process whose output is not read stops writing', async () => {
  const count = join(root, 'count')
  const writer = openSpawner(
    writeProgram(
      root,
      'writer',
      `for i in $(seq 400); do head -c 65536 /dev/zero; echo $i > ${count}; done; exec cat`,
    ),
  )
  const process = await writer.open(['x'], directory)
  process.socket.pause()
  await sleep(700)
  const before = readFileSync(count, 'utf8')
  await sleep(300)
  assert.equal(readFileSync(count, 'utf8'), before)
  assert.ok(Number(before) < 20, before)
  let size = 0
  process.socket.on('data', (chunk: Buffer) => (size += chunk.length))
  process.socket.resume()
  process.socket.end('tail')
  assert.equal((await process.ended).code, 0)
  await until(() => size === 400 * 65_536 + 4, 'all bytes')
})

void test('when the spawner dies, calls in flight fail, its processes die, and the next call works', async () => {
  const deaths: string[] = []
  const spawner = new Spawner({
    binary: stubborn(3),
    path,
    width: 8,
    slowWidth: 1,
    onDeath: (detail) => deaths.push(detail),
  })
  after(() => spawner.close())
  const call = spawner.run(['x'])
  call.catch(() => undefined)
  const grandchild = await pidIn(id(3))
  // A later call has ended: so the server has heard by which number it can end the first one.
  await assert.rejects(spawner.run(['x'], { timeoutMs: 100 }), { fault: 'timeout' })
  const first = spawner.pid
  assert.ok(first !== undefined)
  process.kill(first, 'SIGKILL')
  await assert.rejects(call, { fault: 'gone', message: /spawner ended.*SIGKILL/ })
  await until(() => !isAlive(grandchild), 'the end of the grandchild')
  assert.equal(deaths.length, 1)
  await assert.rejects(spawner.run(['x'], { timeoutMs: 100 }), { fault: 'timeout' })
  assert.notEqual(spawner.pid, first)
})

void test('when the server is killed, the spawner and every git process die too', async () => {
  const module = fileURLToPath(new URL('spawner.ts', import.meta.url))
  const program = `
    const { Spawner } = await import(${JSON.stringify(module)})
    const make = (binary) => new Spawner({ binary, path: ${JSON.stringify(path)}, width: 8, slowWidth: 1, onDeath() {} })
    const reader = await make('git').open(['cat-file', '--batch-command'], ${JSON.stringify(directory)})
    const other = make(${JSON.stringify(stubborn(4))})
    const stubborn = await other.open(['x'], ${JSON.stringify(directory)})
    console.log(JSON.stringify([reader.pid, stubborn.pid, other.pid]))
    setInterval(() => {}, 1000)`
  const server = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program])
  const line = await new Promise<string>((resolve) =>
    server.stdout.once('data', (chunk) => resolve(String(chunk))),
  )
  const pids: number[] = [...JSON.parse(line), await pidIn(id(4))]
  assert.ok(pids.every(isAlive))
  server.kill('SIGKILL')
  await until(() => !pids.some(isAlive), 'the end of all')
})

void test('no credential is in an error', async () => {
  const loud = openSpawner(writeProgram(root, 'loud', 'echo "$@" >&2; exit 1'))
  const url = 'https://bob:s3cret@example.org/x'
  await assert.rejects(loud.run(['fetch', url]), (error: Error) => {
    assert.equal(JSON.stringify([error, error.message, error.stack]).includes('s3cret'), false)
    return true
  })
})

void test('after close nothing starts, and what ran has ended', async () => {
  const spawner = openSpawner()
  const process = await spawner.open(['cat-file', '--batch-command'], directory)
  const child = spawner.pid ?? 0
  await spawner.close()
  assert.equal(isAlive(process.pid) || isAlive(child), false)
  await assert.rejects(spawner.run(['version']), { fault: 'closed' })
  assert.equal(gitText(directory, ['count-objects']).length > 0, true)
})
