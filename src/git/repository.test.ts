import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  dice,
  gitBytes,
  gitLines,
  gitText,
  initRepository,
  openTestGit,
  scratch,
  writeHistory,
} from '../../test/support/git_fixtures.ts'
import type { LogQuery } from './history/log.ts'

const root = scratch()
const git = openTestGit(root)
const directory = join(root, 'a/history.git')
writeHistory(directory, 500, 42)
const repository = git.repository('a/history.git')
const all = gitLines(directory, ['rev-list', '--all'])

function pick<T>(items: readonly T[], roll: (bound: number) => number): T {
  const item = items[roll(items.length)]
  assert.ok(item !== undefined)
  return item
}

void test('every commit reads as git shows it', async () => {
  const format = ['%H', '%T', '%P', '%an', '%ae', '%ad', '%cn', '%ce', '%cd', '%B'].join('%x00')
  const args = ['log', '--all', '--no-mailmap', '--date=raw', `--format=${format}%x01`]
  const shown = gitBytes(directory, args).toString().split('\u0001\n').slice(0, -1)
  assert.equal(shown.length, all.length)
  for (const record of shown) {
    const [id = '', tree, parents, an, ae, ad, cn, ce, cd, message] = record.split('\0')
    const commit = await repository.commit(id)
    assert.ok(commit)
    assert.deepEqual(
      [commit.tree, commit.parents.join(' '), commit.author.name, commit.author.email],
      [tree, parents, an, ae],
    )
    assert.deepEqual([commit.committer.name, commit.committer.email], [cn, ce])
    assert.equal(`${commit.author.date.seconds} ${commit.author.date.offset}`, ad)
    assert.equal(`${commit.committer.date.seconds} ${commit.committer.date.offset}`, cd)
    assert.equal(commit.message.trimEnd(), message?.trimEnd())
  }
})

void test('the stats of every commit are those of git log against the first parent', async () => {
  const expected = new Map<string, string>()
  const args = ['log', '--no-walk', '--stdin', '-m', '--first-parent', '--shortstat', '--format=%H']
  const lines = gitLines(directory, args, all.join('\n'))
  let current = ''
  for (const line of lines) {
    if (/^[0-9a-f]{40}$/.test(line)) expected.set((current = line), '0 0')
    else if (line !== '') {
      expected.set(current, `${/(\d+) ins/.exec(line)?.[1] ?? 0} ${/(\d+) del/.exec(line)?.[1] ?? 0}`)
    }
  }
  assert.equal(expected.size, all.length)
  const stats = await repository.stats([...expected.keys(), '0'.repeat(40), 'x'])
  assert.equal(stats.size, expected.size)
  for (const [sha, text] of expected) {
    const found = stats.get(sha)
    assert.equal(`${found?.additions} ${found?.deletions}`, text, sha)
    assert.equal(found?.total, (found?.additions ?? 0) + (found?.deletions ?? 0))
  }
  assert.deepEqual(await repository.stats([...expected.keys()]), stats)
})

const paths = ['README.md', 'src', 'src/', 'docs/ümläut.md', '*.glob', 'docs/日本.txt', 'absent', 'moved/1']
const authors = ['ada', 'ADA@EXAMPLE', 'straße', '山田', '(a+)+$', '.*', 'ada lovelace <a', 'nobody', '>']

function randomQuery(roll: (bound: number) => number): LogQuery {
  const one = (chance: number): boolean => roll(chance) === 0
  const moment = (): number => 1_600_000_000 + roll(150_000)
  return {
    skip: pick([0, 0, 1, 20, 300], roll),
    limit: pick([1, 20, 100], roll),
    ...(one(4) ? { all: true } : { from: Array.from({ length: 1 + roll(2) }, () => pick(all, roll)) }),
    ...(one(4) ? { exclude: [pick(all, roll)] } : {}),
    ...(one(3) ? { since: moment() } : {}),
    ...(one(3) ? { until: new Date(moment() * 1_000) } : {}),
    ...(one(3) ? { author: pick(authors, roll) } : {}),
    ...(one(3) ? { firstParent: true } : {}),
    ...(one(3) ? { order: 'topo' } : {}),
    ...(one(3) ? { path: pick(paths, roll) } : {}),
  }
}

function asArguments(query: LogQuery): string[] {
  const { since, until, author, path } = query
  return [
    'log',
    '--no-mailmap',
    '--format=%H',
    `--skip=${query.skip}`,
    `-${query.limit}`,
    ...(query.all === true ? ['--all'] : (query.from ?? [])),
    ...(query.exclude ?? []).map((sha) => `^${sha}`),
    ...(typeof since === 'number' ? [`--since=@${since} +0000`] : []),
    ...(until instanceof Date ? [`--until=@${until.getTime() / 1_000} +0000`] : []),
    ...(author === undefined ? [] : ['-F', '-i', `--author=${author}`]),
    ...(query.firstParent === true ? ['--first-parent'] : []),
    ...(query.order === 'topo' ? ['--topo-order'] : []),
    ...(path === undefined ? [] : ['--', path]),
  ]
}

void test('lists equal git log for 300 random combinations of options', async () => {
  const roll = dice(7)
  let found = 0
  for (let round = 0; round < 300; round += 1) {
    const query = randomQuery(roll)
    const list = await repository.log(query)
    assert.deepEqual(list, gitLines(directory, asArguments(query)), JSON.stringify(query))
    found += list.length
  }
  assert.ok(found > 1_000)
})

void test('all pages together are the whole history, in either order of asking and at once', async () => {
  const main = await repository.resolve('main')
  assert.ok(main)
  const expected = gitLines(directory, ['rev-list', main])
  const page = (number: number): Promise<readonly string[]> =>
    repository.log({ from: [main], skip: number * 20, limit: 20 })
  const numbers = Array.from({ length: Math.ceil(expected.length / 20) + 1 }, (_, index) => index)
  git.forget('a/history.git')
  assert.deepEqual((await Promise.all(numbers.map(page))).flat(), expected)
  git.forget('a/history.git')
  const backwards = []
  for (const number of numbers.toReversed()) backwards.unshift(...(await page(number)))
  assert.deepEqual(backwards, expected)
})

void test('a list of all refs follows a ref that moved', async () => {
  const query: LogQuery = { all: true, skip: 0, limit: 10 }
  const before = await repository.log(query)
  const tree = gitText(directory, ['rev-parse', 'main^{tree}'])
  const sha = gitText(directory, ['commit-tree', tree, '-p', 'main', '-m', 'later'])
  gitText(directory, ['update-ref', 'refs/heads/moved', sha])
  assert.deepEqual((await repository.log(query)).slice(0, 2), [sha, before[0]])
  gitText(directory, ['update-ref', '-d', 'refs/heads/moved'])
  assert.deepEqual(await repository.log(query), before)
})

void test('since and until are inclusive to the second, and beyond time there is nothing', async () => {
  const main = (await repository.resolve('main')) ?? ''
  const seconds = (await repository.commit(main))?.committer.date.seconds ?? 0
  const list = (window: Pick<LogQuery, 'since' | 'until'>): Promise<readonly string[]> =>
    repository.log({ from: [main], skip: 0, limit: 1, ...window })
  assert.deepEqual(await list({ since: seconds }), [main])
  assert.equal((await list({ since: seconds, until: seconds })).includes(main), true)
  assert.notEqual((await list({ until: seconds - 1 }))[0], main)
  assert.deepEqual(await list({ until: -1 }), [])
  assert.deepEqual(await list({ since: 8.64e12 }), [])
  await assert.rejects(list({ since: new Date('x') }), TypeError)
})

void test('names resolve as git resolves them', async () => {
  const names = ['main', 'feature/x.1', 'ümläut', 'light', 'nested', 't/50', 'v1', 'HEAD', 'abcd']
  const full = ['refs/heads/main', 'heads/main', 'tags/v1', 'refs/tags/nested', 'refs/heads/v1']
  for (const name of [...names, ...full]) {
    const expected = gitText(directory, ['rev-parse', `${name}^{commit}`])
    assert.equal(await repository.resolve(name), expected, name)
  }
  const tagObject = gitText(directory, ['rev-parse', 'nested'])
  assert.equal(await repository.resolve(tagObject), await repository.resolve('nested'))
  assert.equal(await repository.resolve('a'.repeat(40)), undefined)
  assert.equal(await repository.resolve('gone'), undefined)
})

void test('abbreviations resolve when they mean one commit', async () => {
  for (const sha of all.slice(0, 60)) {
    for (const length of [4, 7, 12, 39, 40]) {
      const short = sha.slice(0, length)
      const commits = all.filter((other) => other.startsWith(short))
      if (short === 'abcd') continue
      assert.equal(await repository.resolve(short), commits.length === 1 ? sha : undefined, short)
    }
  }
  const [first = ''] = all
  assert.equal(await repository.resolve(first.slice(0, 10).toUpperCase()), first)
  assert.equal(await repository.resolve(first.slice(0, 3)), undefined)
  const tree = (await repository.commit(first))?.tree ?? ''
  assert.equal(await repository.resolve(tree), undefined)
  assert.equal(await repository.commit(tree), undefined)
})

void test('a name like the output of git describe is a name and nothing else', async () => {
  const sha = (await repository.resolve('main')) ?? ''
  const name = `v1-3-g${sha.slice(0, 10)}`
  assert.equal(gitText(directory, ['rev-parse', name]), sha)
  assert.equal(await repository.resolve(name), undefined)
  gitText(directory, ['update-ref', `refs/heads/${name}`, 'main~2'])
  assert.equal(await repository.resolve(name), gitText(directory, ['rev-parse', 'main~2']))
  gitText(directory, ['update-ref', '-d', `refs/heads/${name}`])
})

void test('an empty repository, an unborn branch and no repository are told apart', async () => {
  initRepository(join(root, 'a/empty.git'))
  const empty = git.repository('a/empty.git')
  const absent = git.repository('a/absent.git')
  assert.deepEqual(
    [await empty.exists(), await absent.exists(), await repository.exists()],
    [true, false, true],
  )
  assert.deepEqual([await empty.isEmpty(), await repository.isEmpty()], [true, false])
  assert.deepEqual([await empty.defaultBranch(), await absent.defaultBranch()], ['main', undefined])
  assert.equal(await empty.resolve('main'), undefined)
  assert.equal(await empty.resolve('HEAD'), undefined)
  assert.deepEqual(await empty.log({ all: true, skip: 0, limit: 20 }), [])
  await assert.rejects(absent.isEmpty(), { name: 'GitError', fault: 'exit' })
  for (const rev of ['main', 'HEAD', 'abcdef', '0'.repeat(40)])
    assert.equal(await absent.resolve(rev), undefined)
  await assert.rejects(absent.commit('0'.repeat(40)), { name: 'GitError', fault: 'refused' })
})

void test('malformed queries are refused before a process sees them', async () => {
  const page = { skip: 0, limit: 20 }
  await assert.rejects(repository.log({ from: ['main'], ...page }), TypeError)
  await assert.rejects(repository.log({ from: ['--all'], ...page }), TypeError)
  await assert.rejects(repository.log(page), TypeError)
  await assert.rejects(repository.log({ all: true, skip: -1, limit: 20 }), TypeError)
  await assert.rejects(repository.log({ from: ['0'.repeat(40)], ...page }), { fault: 'exit' })
})

for (const path of [
  '../x',
  '/etc/passwd',
  'a/../b',
  '.',
  'x',
  '',
  'a//b',
  '.git',
  'a.lock',
  'a b',
  'a/.hidden',
  '-x',
]) {
  void test(`a repository is ${path === 'x' ? '' : 'not '}found at ${JSON.stringify(path)}`, () => {
    if (path === 'x') assert.equal(git.directory(path), join(root, 'x'))
    else assert.throws(() => git.repository(path), TypeError)
  })
}
