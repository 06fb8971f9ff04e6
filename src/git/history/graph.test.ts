import assert from 'node:assert/strict'
import { cpSync, existsSync, rmSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import { test } from 'node:test'
import {
  dice,
  gitLines,
  gitText,
  initRepository,
  openTestGit,
  scratch,
  writeHistory,
} from '../../../test/support/git_fixtures.ts'
import { addTangle, asArguments, pick, randomQuery, subjectOf } from '../../../test/support/git_samples.ts'
import type { Git } from '../git.ts'
import { importRepository } from '../import.ts'

const root = scratch()
const source = join(root, 'source.git')
writeHistory(source, 700, 11)
addTangle(source, 25)
const changedPaths = ['commit-graph', 'write', '--changed-paths', '--no-progress']

/** A copy of the history with the commit-graph that `write` gives it. */
function variant(name: string, write: (directory: string) => void): string {
  const directory = join(root, `${name}.git`)
  cpSync(source, directory, { recursive: true })
  rmSync(join(directory, 'objects/info/commit-graph'), { force: true })
  write(directory)
  return directory
}

function writeChain(directory: string, upTo: number): void {
  const oldestFirst = gitLines(directory, ['rev-list', '--reverse', '--branches', '--tags'])
  for (let count = 200; count <= upTo; count += 200) {
    const commits = `${oldestFirst.slice(0, count).join('\n')}\n`
    gitText(directory, [...changedPaths, '--stdin-commits', '--split=no-merge'], commits)
  }
}

function opened(): { git: Git; commands: string[] } {
  const git = openTestGit(root)
  const commands: string[] = []
  const run = git.spawner.run.bind(git.spawner)
  git.spawner.run = (args, options) => {
    commands.push(args[0] ?? '')
    return run(args, options)
  }
  return { git, commands }
}

async function compareLists(directory: string, samples: number, seed: number): Promise<string[]> {
  const { git, commands } = opened()
  const repository = git.repository(basename(directory))
  const subject = subjectOf(directory)
  const roll = dice(seed)
  let found = 0
  for (let sample = 0; sample < samples; sample += 1) {
    const query = randomQuery(subject, roll)
    const list = await repository.log(query)
    assert.deepEqual(list, gitLines(directory, asArguments(query)), JSON.stringify(query))
    found += list.length
  }
  assert.ok(found > samples)
  return commands
}

async function compareReach(directory: string, samples: number, seed: number): Promise<string[]> {
  const { git, commands } = opened()
  const repository = git.repository(basename(directory))
  const { shas } = subjectOf(directory)
  const roll = dice(seed)
  const refs = ['for-each-ref', '--format=%(refname:lstrip=1)', 'refs/heads', 'refs/tags']
  for (let sample = 0; sample < samples; sample += 1) {
    const [sha, other] = [pick(shas, roll), pick(shas, roll)]
    const firstParent = roll(2) === 0
    const counted = ['rev-list', '--count', ...(firstParent ? ['--first-parent'] : []), sha]
    assert.equal(await repository.count(sha, { firstParent }), Number(gitText(directory, counted)))
    const found = await repository.refsContaining(sha, ['branch', 'tag'])
    assert.deepEqual(
      found.map(({ type, name }) => (type === 'branch' ? `heads/${name}` : `tags/${name}`)),
      gitLines(directory, [...refs, `--contains=${sha}`]),
    )
    const bases = mergeBases(directory, sha, other)
    const best = await repository.mergeBase(sha, other)
    assert.ok(best === undefined ? bases.length === 0 : bases.includes(best), `${sha} ${other}`)
    assert.equal(await repository.isAncestor(sha, other), best === sha)
  }
  return commands
}

async function compareStats(directory: string, samples: number): Promise<void> {
  const { shas } = subjectOf(directory)
  const some = shas.filter((_, index) => index % Math.ceil(shas.length / samples) === 0)
  const shown = ['log', '--no-walk', '--stdin', '-m', '--first-parent', '--shortstat', '--format=%H']
  const expected = new Map<string, [number, number]>()
  for (const line of gitLines(directory, shown, some.join('\n'))) {
    const [additions, deletions] = [/(\d+) ins/, /(\d+) del/].map((part) => Number(part.exec(line)?.[1] ?? 0))
    if (/^[0-9a-f]{40}$/.test(line)) expected.set(line, [0, 0])
    else if (line !== '') expected.set([...expected.keys()].at(-1) ?? '', [additions ?? 0, deletions ?? 0])
  }
  const stats = await opened().git.repository(basename(directory)).stats(some)
  const found = [...stats].map(([sha, { additions, deletions }]) => [sha, [additions, deletions]] as const)
  assert.deepEqual(new Map(found), expected)
}

function mergeBases(directory: string, a: string, b: string): string[] {
  try {
    return gitLines(directory, ['merge-base', '--all', a, b])
  } catch {
    return []
  }
}

const variants: Record<string, (directory: string) => void> = {
  'one file': (directory) => void gitText(directory, [...changedPaths, '--reachable']),
  'a chain of files': (directory) => writeChain(directory, 800),
  'a chain that lacks the newest commits': (directory) => writeChain(directory, 400),
  'levels and no newer generation numbers': (directory) =>
    void gitText(directory, ['-c', 'commitGraph.generationVersion=1', ...changedPaths, '--reachable']),
  'no file at all': () => undefined,
}

for (const [index, [name, write]] of Object.entries(variants).entries()) {
  const directory = variant(`variant-${index}`, write)
  void test(`with ${name}, lists of every kind are those of git, and mostly need none`, async () => {
    const commands = await compareLists(directory, 90, index)
    assert.ok(commands.length < (name === 'no file at all' ? 50 : 20), String(commands.length))
  })
  void test(`with ${name}, counts, refs containing a commit and ancestry are those of git, which is not asked`, async () => {
    assert.deepEqual(await compareReach(directory, 25, index), [])
  })
}

void test('a commit that only a merge brings in, older than asked for, leaves nothing out where first parents are followed', async () => {
  const directory = join(root, 'skewed.git')
  initRepository(directory)
  const commit = (mark: number, time: number, ...parents: readonly number[]): string => {
    const lines = parents.map((parent, index) => `${index === 0 ? 'from' : 'merge'} :${parent}\n`)
    return `commit refs/heads/main\nmark :${mark}\ncommitter A <a@x> ${time} +0000\ndata 1\nx\n${lines.join('')}\n`
  }
  const history = [
    commit(1, 100),
    commit(2, 200, 1),
    commit(3, 10, 2),
    commit(4, 300, 2),
    commit(5, 400, 4, 3),
  ]
  gitText(directory, ['fast-import', '--quiet', '--force'], history.join(''))
  gitText(directory, [...changedPaths, '--reachable'])
  const { git, commands } = opened()
  const [tip = ''] = gitLines(directory, ['rev-parse', 'main'])
  const query = { from: [tip], since: 50, firstParent: true, order: 'topo', skip: 0, limit: 9 } as const
  const list = await git.repository('skewed.git').log(query)
  assert.deepEqual(list, gitLines(directory, asArguments(query)))
  assert.deepEqual([list.length, commands], [4, []])
})

void test('without filters of changed paths, lists by path are left to git', async () => {
  const directory = variant(
    'plain',
    (target) => void gitText(target, ['commit-graph', 'write', '--reachable']),
  )
  const { git, commands } = opened()
  const main = gitText(directory, ['rev-parse', 'main'])
  const list = await git.repository('plain.git').log({ from: [main], path: 'src', skip: 0, limit: 20 })
  assert.deepEqual(list, gitLines(directory, ['rev-list', '-20', 'main', '--', 'src']))
  assert.deepEqual(commands, ['rev-list'])
})

const own = join(import.meta.dirname, '../../..')
// A copy of the sources may come without their history.
const skip = existsSync(join(own, '.git')) ? false : 'these sources came without their history'
void test(
  "lists, counts, refs and stats of this project's own history are those of git",
  { skip },
  async () => {
    await importRepository(opened().git, own, 'own.git')
    await compareLists(join(root, 'own.git'), 40, 3)
    await compareReach(join(root, 'own.git'), 10, 3)
    await compareStats(join(root, 'own.git'), 60)
  },
)

const given = (process.env['TEST_REPOSITORIES'] ?? '').split(delimiter).filter((path) => path !== '')
for (const [index, place] of given.entries()) {
  void test(`lists, counts, refs and stats of ${basename(place)} are those of git`, async () => {
    await importRepository(opened().git, place, `given-${index}.git`)
    await compareLists(join(root, `given-${index}.git`), 300, 5)
    await compareReach(join(root, `given-${index}.git`), 60, 5)
    await compareStats(join(root, `given-${index}.git`), 300)
  })
}
