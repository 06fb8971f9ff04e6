import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Budget } from './budget.ts'
import { catFile } from './cat_file.ts'
import type { Dialect } from './process_protocol.ts'
import { diffTree } from './diff_tree.ts'
import {
  gitLines,
  gitText,
  initRepository,
  scratch,
  writeHistory,
  writeProgram,
} from '../../../test/support/git_fixtures.ts'
import { Pool } from './pool.ts'
import { Spawner } from './spawner.ts'

const root = scratch()
const directory = join(root, 'history.git')
writeHistory(directory, 120, 5)
const shas = gitLines(directory, ['rev-list', '--all'])
const absent = '1'.repeat(40)

function openPool<Q, A>(
  dialect: Dialect<Q, A>,
  options: { binary?: string; max?: number; idleMs?: number } = {},
) {
  const path = '/usr/local/bin:/usr/bin:/bin'
  const binary = options.binary ?? 'git'
  const spawner = new Spawner({ binary, path, width: 8, slowWidth: 1, onDeath: () => undefined })
  const budget = new Budget(options.max ?? 8, options.idleMs ?? 60_000)
  const pids: number[] = []
  const pool = new Pool(dialect, budget, async (args, gitDirectory) => {
    const process = await spawner.open(args, gitDirectory)
    pids.push(process.pid)
    return process
  })
  after(async () => {
    budget.close()
    await pool.close()
    await spawner.close()
  })
  return { pool, budget, pids }
}

void test('thousands of questions at once each get their own answer', async () => {
  const { pool, pids } = openPool(catFile)
  const questions = Array.from({ length: 4_000 }, (_, index) =>
    index % 7 === 3 ? absent : (shas[index % shas.length] ?? ''),
  )
  const answers = await Promise.all(
    questions.map(async (object, index) => {
      const answer = await pool.ask(directory, { command: index % 2 === 0 ? 'contents' : 'info', object })
      return { id: answer?.id, size: answer?.bytes.length, stated: answer?.size }
    }),
  )
  for (const [index, { id, size, stated }] of answers.entries()) {
    assert.equal(id, questions[index] === absent ? undefined : questions[index])
    if (id !== undefined) assert.equal(size, index % 2 === 0 ? stated : 0)
  }
  assert.equal(pids.length, 2)
})

void test('questions that are no hash and no full name never reach a process', async () => {
  const { pool, pids } = openPool(catFile)
  const bad = [
    'HEAD:../../etc/passwd',
    'HEAD\ncontents HEAD',
    ':/x',
    'main',
    '--batch',
    'refs/heads/a b',
    'refs/heads/a^{/x}',
    '',
  ]
  for (const object of bad) {
    await assert.rejects(pool.ask(directory, { command: 'info', object }), TypeError, object)
  }
  const diffs = openPool(diffTree)
  await assert.rejects(diffs.pool.ask(directory, { sha: 'HEAD', parent: undefined }), TypeError)
  await assert.rejects(diffs.pool.ask(directory, { sha: absent, parent: '-O/etc/passwd' }), TypeError)
  for (const pid of [...pids, ...diffs.pids]) process.kill(pid, 0)
})

void test('questions in flight when their process is killed are answered by the next', async () => {
  const { pool, pids } = openPool(catFile)
  const [first = ''] = shas
  await pool.ask(directory, { command: 'info', object: first })
  for (let round = 0; round < 5; round += 1) {
    const asked = shas.map((object) => pool.ask(directory, { command: 'info', object }))
    process.kill(pids.at(-1) ?? 0, 'SIGKILL')
    assert.deepEqual(
      (await Promise.all(asked)).map((answer) => answer?.id),
      shas,
    )
  }
  assert.ok(pids.length > 2)
})

void test('a process that dies on one question does not take the others with it for good', async () => {
  // Ends on the hash 111…, echoes every other question as a missing object.
  const script = `while read -r command object; do
    case $object in ${absent}) exit 1;; esac; echo "$object missing"; done`
  const { pool } = openPool(catFile, { binary: writeProgram(root, 'fragile', script) })
  const culprit = pool.ask(directory, { command: 'info', object: absent })
  const other = pool.ask(directory, { command: 'info', object: '2'.repeat(40) })
  await assert.rejects(culprit, { fault: 'gone' })
  assert.equal(await other, undefined)
})

void test('an answer out of form ends the process and never becomes an answer', async () => {
  const lies = [
    `echo "${'3'.repeat(40)} commit 5"`,
    'echo nonsense',
    `echo "${absent} commit x"`,
    `printf '${absent} commit 2\\nabcd'`,
    'yes x | head -c 100000 | tr -d "\\n"',
  ]
  for (const [index, lie] of lies.entries()) {
    const binary = writeProgram(root, `liar-${index}`, `while read -r line; do ${lie}; done`)
    const { pool, pids } = openPool(catFile, { binary })
    await assert.rejects(pool.ask(directory, { command: 'contents', object: absent }), { fault: 'gone' }, lie)
    assert.equal(pids.length, 3)
  }
})

void test('a silent process is ended', async () => {
  const binary = writeProgram(root, 'silent', 'exec sleep 100')
  const { pool } = openPool({ ...catFile, silenceMs: 200 }, { binary })
  await assert.rejects(pool.ask(directory, { command: 'info', object: absent }), { fault: 'timeout' })
})

void test('an object too large is refused without being held', async () => {
  const large = join(root, 'large.git')
  initRepository(large)
  const sha = gitText(large, ['hash-object', '-w', '--stdin'], Buffer.alloc(40_000_000))
  const { pool } = openPool(catFile)
  const asked = pool.ask(large, { command: 'contents', object: sha })
  const behind = pool.ask(large, { command: 'info', object: sha })
  await assert.rejects(asked, { fault: 'too_large' })
  assert.equal((await behind)?.size, 40_000_000)
})

void test('over all repositories there are no more processes than allowed, and the oldest idle one leaves', async () => {
  const { pool, budget, pids } = openPool(catFile, { max: 3 })
  const directories = Array.from({ length: 8 }, (_, index) => join(root, `many-${index}.git`))
  directories.forEach(initRepository)
  let most = 0
  const watch = setInterval(() => (most = Math.max(most, budget.taken)), 1)
  const ask = (target: string) => pool.ask(target, { command: 'info', object: absent })
  assert.deepEqual(await Promise.all(directories.map(ask)), Array(8).fill(undefined))
  const before = pids.length
  const [first = '', second = '', third = ''] = directories
  for (const target of [first, second, third]) await ask(target)
  await ask(first)
  const warm = pids.length
  await ask(directories[7] ?? '')
  assert.equal(pool.count(second), 0)
  assert.deepEqual([pool.count(first), pool.count(third)], [1, 1])
  clearInterval(watch)
  assert.ok(most <= 3, String(most))
  assert.ok(before >= 8 && warm > before)
})

void test('an idle process ends, and a used-up one is replaced', async () => {
  const { pool, budget, pids } = openPool({ ...catFile, recycleAfter: 10, perRepository: 1 }, { idleMs: 200 })
  for (let round = 0; round < 35; round += 1) await pool.ask(directory, { command: 'info', object: absent })
  assert.equal(pids.length, 4)
  for (let round = 0; round < 100 && budget.taken > 0; round += 1) await sleep(20)
  assert.equal(budget.taken, 0)
  assert.equal(await pool.ask(directory, { command: 'info', object: absent }), undefined)
})

void test('close ends what is open and fails what is asked', async () => {
  const { pool, pids } = openPool(catFile, { binary: writeProgram(root, 'mute', 'exec sleep 100') })
  const asked = pool.ask(directory, { command: 'info', object: absent })
  while (pids.length === 0) await sleep(5)
  await Promise.all([assert.rejects(asked, { fault: 'closed' }), pool.close()])
  await assert.rejects(pool.ask(directory, { command: 'info', object: absent }), { fault: 'closed' })
})

void test('readers find their answer however the bytes are cut', () => {
  const content = `${shas[0]} commit 13\nline\n1 commit\n`
  const bytes = Buffer.from(content)
  const question = { command: 'contents', object: shas[0] ?? '' } as const
  for (let cut = 0; cut < bytes.length; cut += 1) {
    const reading = catFile.read(bytes.subarray(0, cut), question)
    assert.ok('need' in reading && reading.need > cut)
  }
  const whole = catFile.read(Buffer.concat([bytes, bytes]), question)
  assert.ok('used' in whole && whole.used === bytes.length)
})
