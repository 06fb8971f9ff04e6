import assert from 'node:assert/strict'
import { readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  dice,
  gitLines,
  gitText,
  openTestGit,
  scratch,
  writeHistory,
} from '../../../test/support/git_fixtures.ts'
import { bloomKeys } from './graph_bloom.ts'
import { readLayer } from './graph_file.ts'
import { loadGraph } from './graph_load.ts'
import { isGitError } from '../errors.ts'

const root = scratch()
const write = ['commit-graph', 'write', '--reachable', '--changed-paths', '--no-progress']

function repositoryAt(name: string, commits: number, seed: number): string {
  const directory = join(root, name)
  writeHistory(directory, commits, seed)
  return directory
}

/** Waits until `look` finds something: for work that is done some time after it was asked for. */
async function until<T>(look: () => T | undefined): Promise<T> {
  for (let attempt = 0; attempt < 400; attempt += 1) {
    const found = look()
    if (found !== undefined) return found
    await sleep(50)
  }
  throw new Error('It never came')
}

const chainOf = (directory: string): string[] => {
  try {
    const file = join(directory, 'objects/info/commit-graphs/commit-graph-chain')
    return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  } catch {
    return []
  }
}

void test('a filter excludes no path that a commit changed, and most that it did not', () => {
  const directory = repositoryAt('filters.git', 300, 5)
  gitText(directory, write)
  const file = join(directory, 'objects/info/commit-graph')
  const layer = readLayer('x', readFileSync(file), 0)
  assert.ok(layer?.filters !== undefined)
  const names = [
    'README.md',
    'src',
    'src/a.ts',
    'src/deep/er/c.ts',
    'absent',
    'x'.repeat(21),
    'renamed/1/src/b.ts',
  ]
  const ids = Array.from({ length: layer.count }, (_, index) =>
    layer.bytes.toString('hex', layer.ids + index * 20, layer.ids + index * 20 + 20),
  )
  let excluded = 0
  for (const name of names) {
    const options = ['rev-list', '--branches', '--tags', '--full-history', '--first-parent', '--', name]
    const changed = new Set(gitLines(directory, options))
    const keys = bloomKeys(name)
    for (const [index, id] of ids.entries()) {
      const isExcluded = layer.filters.excludes(index, keys)
      if (isExcluded) excluded += 1
      assert.ok(!isExcluded || !changed.has(id), `${id} ${name}`)
    }
  }
  assert.ok(excluded > ids.length * 3)
})

void test('damaged files never end or hold the server: the answer is right, or git says that it cannot', async () => {
  const directory = repositoryAt('damaged.git', 150, 6)
  const git = openTestGit(root)
  const repository = git.repository('damaged.git')
  const [tip = ''] = gitLines(directory, ['rev-list', 'main'])
  const right = gitLines(directory, ['rev-list', 'main'])
  gitText(directory, write)
  const file = join(directory, 'objects/info/commit-graph')
  const whole = readFileSync(file)
  const roll = dice(8)
  const outcomes = { right: 0, refused: 0, other: 0 }
  for (let round = 0; round < 120; round += 1) {
    const bytes = Buffer.from(round % 3 === 0 ? whole.subarray(0, roll(whole.length)) : whole)
    // Mostly where the tables of the file are, a few times anywhere.
    for (let fault = roll(4); fault >= 0 && bytes.length > 0; fault -= 1) {
      bytes[roll(round % 2 === 0 ? Math.min(bytes.length, 1_200) : bytes.length)] = roll(256)
    }
    rmSync(file)
    writeFileSync(file, bytes)
    git.forget('damaged.git')
    try {
      const list = await repository.log({ from: [tip], skip: 0, limit: 1_000 })
      await repository.log({ from: [tip], order: 'topo', path: 'src/a.ts', skip: 0, limit: 1_000 })
      await repository.count(tip)
      outcomes[list.join() === right.join() ? 'right' : 'other'] += 1
    } catch (error) {
      assert.ok(isGitError(error), String(error))
      outcomes.refused += 1
    }
  }
  // Graph files with wrong but consistent hashes or parents are believed, as git does.
  assert.ok(outcomes.right > 40 && outcomes.other < 60, JSON.stringify(outcomes))
})

void test('of a file that has become the lowest of a chain nothing is read again', async () => {
  const directory = repositoryAt('chained.git', 60, 14)
  gitText(directory, write)
  const alone = await loadGraph(directory, undefined, 1e9)
  const next = gitText(directory, ['commit-tree', 'main^{tree}', '-p', 'main', '-m', 'x'])
  gitText(directory, ['update-ref', 'refs/heads/main', next])
  gitText(directory, [...write, '--split'])
  const chained = await loadGraph(directory, alone, 1e9)
  assert.ok(alone !== undefined && chained !== undefined)
  assert.deepEqual([alone.layers.length, chained.layers.length, alone.find(next)], [1, 2, -1])
  assert.equal(chained.layers[0], alone.layers[0])
  assert.equal(chained.sha(chained.find(next)), next)
  assert.equal(await loadGraph(directory, chained, 1e9), chained)
})

void test('a file whose parents go in circles or upwards is not used', async () => {
  const directory = repositoryAt('circle.git', 60, 7)
  gitText(directory, write)
  const file = join(directory, 'objects/info/commit-graph')
  const bytes = readFileSync(file)
  const layer = readLayer('x', bytes, 0)
  assert.ok(layer !== undefined)
  const tip = gitText(directory, ['rev-parse', 'main'])
  const root = gitLines(directory, ['rev-list', '--max-parents=0', 'main']).at(-1) ?? ''
  const at = (sha: string): number =>
    Array.from({ length: layer.count }).findIndex((_, index) =>
      layer.bytes
        .subarray(layer.ids + index * 20, layer.ids + index * 20 + 20)
        .equals(Buffer.from(sha, 'hex')),
    )
  bytes.writeUInt32BE(at(tip), layer.commits + at(root) * 36 + 20)
  rmSync(file)
  writeFileSync(file, bytes)
  const git = openTestGit(join(directory, '..'))
  const commands: string[] = []
  const run = git.spawner.run.bind(git.spawner)
  git.spawner.run = (args, options) => {
    commands.push(args[0] ?? '')
    return run(args, options)
  }
  await git.repository('circle.git').log({ from: [tip], skip: 0, limit: 5 })
  assert.deepEqual(commands, ['rev-list'])
})

void test('after refs moved the commit-graph follows, once for many moves, and what is listed stays right', async () => {
  const directory = repositoryAt('moving.git', 120, 9)
  const git = openTestGit(root)
  const writes: string[] = []
  const run = git.spawner.run.bind(git.spawner)
  let running = 0
  git.spawner.run = async (args, options) => {
    if (args[0] !== 'commit-graph') return run(args, options)
    writes.push(args.join(' '))
    running += 1
    assert.equal(running, 1)
    return run(args, options).finally(() => (running -= 1))
  }
  const repository = git.repository('moving.git')
  for (let round = 0; round < 2; round += 1) {
    const before = chainOf(directory).join()
    const commits = [gitText(directory, ['rev-parse', 'main'])]
    for (let move = 0; move < 20; move += 1) {
      const made = ['commit-tree', 'main^{tree}', '-p', commits[move] ?? '', '-m', `${round} ${move}`]
      commits.push(gitText(directory, made))
    }
    // No process between the moves: they come as fast on a machine that is busy.
    for (const commit of commits.slice(1)) {
      const ref = join(directory, 'refs/heads/main')
      writeFileSync(`${ref}.lock`, `${commit}\n`)
      renameSync(`${ref}.lock`, ref)
      git.touched('moving.git')
      const list = await repository.log({ from: [commit], skip: 0, limit: 20 })
      const known = commits.slice(0, commits.indexOf(commit) + 1).toReversed()
      assert.deepEqual(list.slice(0, known.length), known.slice(0, list.length))
    }
    await until(() => (chainOf(directory).join() === before || running > 0 ? undefined : true))
  }
  const tip = gitText(directory, ['rev-parse', 'main'])
  assert.equal(await repository.count(tip), Number(gitText(directory, ['rev-list', '--count', 'main'])))
  assert.ok(writes.length >= 2 && writes.length < 12, String(writes.length))
  git.touched('moving.git')
  const refs = gitText(directory, ['update-ref', '-d', 'refs/heads/abcd'])
  assert.equal(refs, '')
  const count = writes.length
  await sleep(1_200)
  assert.equal(writes.length, count)
})

void test('a lock that a killed git left behind a long time ago does not stop writes for ever', async () => {
  const directory = repositoryAt('locked.git', 60, 10)
  const lock = join(directory, 'objects/info/commit-graphs/commit-graph-chain.lock')
  gitText(directory, [...write, '--split'])
  gitText(directory, [
    'update-ref',
    'refs/heads/next',
    gitText(directory, ['commit-tree', 'main^{tree}', '-p', 'main', '-m', 'x']),
  ])
  writeFileSync(lock, '')
  utimesSync(lock, 1, 1)
  const before = chainOf(directory)
  const git = openTestGit(root)
  git.touched('locked.git')
  await until(() => (readdirSync(join(lock, '..')).includes('commit-graph-chain.lock') ? undefined : true))
  git.touched('locked.git')
  await until(() => (chainOf(directory).join() === before.join() ? undefined : true))
})

void test('a repository whose commit-graph is larger than allowed is left to git', async () => {
  const directory = repositoryAt('large.git', 200, 11)
  gitText(directory, write)
  const tip = gitText(directory, ['rev-parse', 'main'])
  const { size } = statSync(join(directory, 'objects/info/commit-graph'))
  for (const graphBytes of [5_000, size + 5_000]) {
    const git = openTestGit(root, { graphBytes })
    const commands: string[] = []
    const run = git.spawner.run.bind(git.spawner)
    git.spawner.run = (args, options) => {
      commands.push(args[0] ?? '')
      return run(args, options)
    }
    const list = await git.repository('large.git').log({ from: [tip], skip: 0, limit: 500 })
    assert.deepEqual(list, gitLines(directory, ['rev-list', 'main']))
    assert.equal(await git.repository('large.git').count(tip), list.length)
    assert.deepEqual(commands, ['rev-list', 'rev-list'])
  }
})

void test('a shallow repository shows what git shows of it', async () => {
  const directory = repositoryAt('shallow.git', 80, 12)
  gitText(directory, write)
  const [tip = '', second = ''] = gitLines(directory, ['rev-list', '--first-parent', 'main'])
  writeFileSync(join(directory, 'shallow'), `${second}\n`)
  const git = openTestGit(root)
  const list = await git
    .repository('shallow.git')
    .log({ from: [tip], firstParent: true, skip: 0, limit: 500 })
  assert.deepEqual(list, [tip, second])
})
