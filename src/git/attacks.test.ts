import assert from 'node:assert/strict'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { parseCommit } from './objects/commit.ts'
import {
  gitBytes,
  gitLines,
  gitText,
  openTestGit,
  scratch,
  writeHistory,
} from '../../test/support/git_fixtures.ts'
import { isRefName, refCandidates } from './names.ts'

const root = scratch()
const git = openTestGit(root)
const directory = join(root, 'x/victim.git')
writeHistory(directory, 150, 11)
const repository = git.repository('x/victim.git')
const marker = join(root, 'written')

const hostile = [
  `--output=${marker}`,
  '--all',
  '--exec=x',
  '-q',
  ':/regex',
  ':/Plain',
  'HEAD^{/(a+)+$}',
  'HEAD^{/Plain}',
  'HEAD:../../etc/passwd',
  'HEAD:README.md',
  'main:README.md',
  'main@{0}',
  '@{-1}',
  '@{u}',
  '~1',
  'main~x',
  'main^-',
  'main^!',
  'main^@',
  `main${'^0'.repeat(101)}`,
  'main~9999999',
  'a..b',
  'main..v1',
  'main...v1',
  '^main',
  'v1..--help',
  'main\ncontents HEAD',
  'main\r\ninfo HEAD',
  'main\0',
  '\0',
  'main ',
  ' main',
  '',
  'refs/heads/../x',
  'refs/../HEAD',
  '../../../etc/passwd',
  '/etc/passwd',
  'main.lock',
  'main^{commit}',
  'refs/replace/x',
  'refs/pull/1/head',
  'FETCH_HEAD',
  'config',
  'description',
  '\ud800',
  'x'.repeat(100_000),
]

void test('no hostile name resolves, writes, or ends the shared process', async () => {
  const main = gitText(directory, ['rev-parse', 'main'])
  gitText(directory, ['update-ref', 'refs/pull/1/head', main])
  for (const rev of hostile) {
    const [answer, neighbour] = await Promise.all([repository.resolve(rev), repository.resolve('main')])
    assert.equal(answer, undefined, JSON.stringify(rev.slice(0, 50)))
    assert.equal(neighbour, main)
    assert.equal(await repository.commit(rev), undefined)
    assert.equal((await repository.stats([rev])).size, 0)
    await assert.rejects(repository.log({ from: [rev], skip: 0, limit: 1 }), TypeError)
  }
  assert.equal(existsSync(marker), false)
})

void test('no branch or tag can pass itself off as another', async () => {
  const main = gitText(directory, ['rev-parse', 'refs/heads/main'])
  const other = gitText(directory, ['rev-parse', 'main~7'])
  const fakes = [
    'refs/heads/refs/tags/main',
    'refs/tags/refs/heads/ghost',
    'refs/heads/refs/tags/ghost',
    'refs/remotes/x',
  ]
  for (const fake of [...fakes, 'refs/heads/refs/tags/v1', 'refs/refs/tags/main']) {
    gitText(directory, ['update-ref', fake, other])
  }
  assert.equal(await repository.resolve('main'), main)
  assert.equal(await repository.resolve('ghost'), undefined)
  assert.equal(await repository.resolve('x'), undefined)
  assert.equal(await repository.resolve('v1'), gitText(directory, ['rev-parse', 'refs/tags/v1']))
  assert.equal(await repository.resolve('refs/tags/ghost'), other)
})

void test('branch names follow the rules of git', () => {
  const names = [
    ...hostile,
    'a',
    'a/b',
    'a.b',
    'a.',
    '.a',
    'a/.b',
    'a//b',
    'a/',
    '/a',
    'a.lock/b',
    'ü',
    'a@b',
    'a{b',
  ]
  for (const name of [
    ...names,
    'a]b',
    'a[b',
    'a*',
    'a?',
    'a\\b',
    'a\u007f',
    'HEAD',
    '@',
    'a\u0085b',
    '-a',
    '\u{1f600}',
  ]) {
    if (name.includes('\0') || name.startsWith('-') || name.length > 1_000 || !name.isWellFormed()) {
      assert.equal(isRefName(name), false)
      continue
    }
    let expected = name !== '@'
    try {
      gitText(directory, ['check-ref-format', `refs/heads/${name}`])
    } catch {
      expected = false
    }
    assert.equal(isRefName(name), expected, JSON.stringify(name))
  }
  assert.deepEqual(refCandidates('-x'), [])
})

void test('paths and authors are taken literally', async () => {
  const main = gitText(directory, ['rev-parse', 'main'])
  const count = async (filter: { path?: string; author?: string }): Promise<number> =>
    (await repository.log({ from: [main], skip: 0, limit: 1_000, ...filter })).length
  assert.ok((await count({})) > 50)
  for (const path of [
    ':(exclude)README.md',
    ':(glob)**',
    ':/',
    ':!x',
    '../x',
    'a/../../b',
    '\0',
    '/',
    '-',
    '--all',
    './src',
    'a\nb',
    'x'.repeat(5_000),
  ]) {
    assert.equal(await count({ path }), 0, path.slice(0, 50))
  }
  for (const author of ['(b+)+$', '.{9}', '^A', 'a\nb', '\0', '\\', '[', 'y'.repeat(10_000)]) {
    assert.equal(await count({ author }), 0, author.slice(0, 50))
  }
  assert.equal(
    await count({ path: '*.glob' }),
    gitLines(directory, ['rev-list', main, '--', '*.glob']).length,
  )
  assert.equal(await count({ path: '/src/' }), gitLines(directory, ['rev-list', main, '--', 'src']).length)
})

void test('replacements, grafts, attributes and hooks planted in a repository change no answer', async () => {
  const [tip = '', second = '', third = ''] = gitLines(directory, ['rev-list', 'main'])
  const before = [
    await repository.commit(tip),
    await repository.stats([tip]),
    await repository.log({ from: [tip], skip: 0, limit: 9 }),
  ]
  gitText(directory, ['update-ref', `refs/replace/${tip}`, third])
  mkdirSync(join(directory, 'info'), { recursive: true })
  writeFileSync(join(directory, 'info/grafts'), `${tip} ${third}\n${second}\n`)
  git.forget('x/victim.git')
  assert.deepEqual(
    [
      await repository.commit(tip),
      await repository.stats([tip]),
      await repository.log({ from: [tip], skip: 0, limit: 9 }),
    ],
    before,
  )
})

void test('a broken commit object is read without a fault, and beside it the others as before', async () => {
  const tree = gitText(directory, ['rev-parse', 'main^{tree}'])
  const bodies = [
    `tree ${tree}\n\n`,
    `tree ${tree}\nauthor\ncommitter\n\nx`,
    `tree ${tree}\nauthor no brackets\ncommitter <a> <b> 12 +0100\n\nx`,
    `tree ${tree}\nauthor A <a@x> 99999999999999999999 +0000\ncommitter B <b> -5 +9\n\nx`,
    `tree ${tree}\nauthor A <a\nb> 1 +0000\n`,
    `tree ${tree}\nauthor A <a@x> 5 +0100\ncommitter B <b@x> 6 -0100\nencoding no-such\ngpgsig -----BEGIN\n author E <e@x> 1 +0000\n \n -----END\nmergetag object x\n author F <f@x> 1 +0000\n\nbody\n`,
    `tree ${tree}\nauthor A <a@x> 5 +0100\ncommitter B <b@x> 6 -0100\n\na\0b\xff\n`,
  ]
  for (const body of bodies) {
    const bytes = Buffer.from(body, 'latin1')
    const sha = gitText(directory, ['hash-object', '-t', 'commit', '-w', '--stdin', '--literally'], bytes)
    const commit = await repository.commit(sha)
    assert.deepEqual(commit, parseCommit(sha, bytes))
    assert.equal(commit?.tree, tree)
  }
  const signed = parseCommit('x', Buffer.from(bodies[5] ?? ''))
  assert.deepEqual([signed.author.name, signed.message], ['A', 'body\n'])
  assert.equal(parseCommit('x', Buffer.from(bodies[6] ?? '', 'latin1')).message, 'a\0b\ufffd\n')
  assert.deepEqual(parseCommit('x', Buffer.alloc(0)).parents, [])
})

void test('commits in other encodings read as git converts them', async () => {
  const tree = gitText(directory, ['rev-parse', 'main^{tree}'])
  const samples: [string, Buffer][] = [
    ['ISO-8859-1', Buffer.from('Gr\xfc\xdfe \x85\n', 'latin1')],
    ['ISO8859-15', Buffer.from('\xa4 euro\n', 'latin1')],
    ['CP1252', Buffer.from('\x80 euro\n', 'latin1')],
    ['windows-1251', Buffer.from([0xcf, 0xf0, 0xe8, 0x0a])],
    ['KOI8-R', Buffer.from([0xf0, 0xd2, 0xc9, 0x0a])],
    ['EUC-JP', Buffer.from([0xc6, 0xfc, 0xcb, 0xdc, 0x0a])],
    ['Shift_JIS', Buffer.from([0x93, 0xfa, 0x96, 0x7b, 0x0a])],
    ['GBK', Buffer.from([0xc4, 0xe3, 0x0a])],
    ['UTF-8', Buffer.from('ü\n')],
  ]
  for (const [encoding, message] of samples) {
    const head = `tree ${tree}\nauthor A <a@x> 1 +0000\ncommitter A <a@x> 1 +0000\nencoding ${encoding}\n\n`
    const bytes = Buffer.concat([Buffer.from(head), message])
    const sha = gitText(directory, ['hash-object', '-t', 'commit', '-w', '--stdin'], bytes)
    const shown = gitBytes(directory, ['log', '-1', '--format=%B', sha]).toString().trimEnd()
    assert.equal((await repository.commit(sha))?.message.trimEnd(), shown, encoding)
  }
})
