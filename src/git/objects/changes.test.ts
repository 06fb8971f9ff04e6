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
} from '../../../test/support/git_fixtures.ts'
import { ChangeRefused, type Change } from './changes.ts'

const root = scratch()
const git = openTestGit(root)
const directory = join(root, 'a/changes.git')
initRepository(directory)
const repository = git.repository('a/changes.git')
const bytes = (text: string): Buffer => Buffer.from(text)
const link = 'a'.repeat(40)

type File = { mode: string; id: string }

/** The commit of a tree with these files, made by git's own index. */
function commitOf(files: ReadonlyMap<string, File>): string {
  return gitText(directory, ['commit-tree', '-m', 'base', treeOf(files)])
}

function treeOf(files: ReadonlyMap<string, File>): string {
  gitText(directory, ['read-tree', '--empty'])
  const lines = [...files].map(([path, { mode, id }]) => `${mode} ${id}\t${path}\0`)
  gitText(directory, ['update-index', '-z', '--add', '--index-info'], lines.join(''))
  return gitText(directory, ['write-tree'])
}

const blob = (text: string): string => gitText(directory, ['hash-object', '-w', '--stdin'], text)

/** One line for each entry of a tree, directories left out. */
const listed = (tree: string): string[] =>
  gitLines(directory, ['-c', 'core.quotePath=false', 'ls-tree', '-r', tree])

async function refusal(base: string | undefined, changes: readonly Change[]): Promise<string> {
  const objects = gitLines(directory, ['cat-file', '--batch-all-objects', '--batch-check'])
  try {
    await repository.writeTree(base, changes)
  } catch (error) {
    assert.ok(error instanceof ChangeRefused, String(error))
    assert.deepEqual(gitLines(directory, ['cat-file', '--batch-all-objects', '--batch-check']), objects)
    return `${error.reason} ${error.path} ${error.index}`
  }
  return 'done'
}

const base = commitOf(
  new Map([
    ['README', { mode: '100644', id: blob('read me\n') }],
    ['bin/run', { mode: '100755', id: blob('#!/bin/sh\n') }],
    ['bin/link', { mode: '120000', id: blob('../README') }],
    ['lib/a/one', { mode: '100644', id: blob('1') }],
    ['lib/a/two', { mode: '100644', id: blob('2') }],
    ['lib/b', { mode: '100644', id: blob('b') }],
    ['vendor/module', { mode: '160000', id: link }],
  ]),
)

void test('the five actions, made in order on one tree', async () => {
  const tree = await repository.writeTree(base, [
    { action: 'create', path: '/new/dir/file', content: bytes('new') },
    { action: 'chmod', path: 'new/dir/file', executable: true },
    { action: 'update', path: 'new/dir/file', content: bytes('newer') },
    { action: 'update', path: 'bin/run', content: bytes('') },
    { action: 'move', path: 'bin/moved', from: 'bin/run' },
    { action: 'move', path: 'lib/c', from: 'lib/b', content: bytes('c') },
    { action: 'delete', path: 'lib/a/one' },
    { action: 'delete', path: 'lib/a/two' },
    { action: 'link', path: 'vendor/module', sha: 'b'.repeat(40) },
    { action: 'link', path: 'vendor/other', sha: 'c'.repeat(40) },
    { action: 'update', path: 'bin/link', content: bytes('moved') },
  ])
  assert.deepEqual(listed(tree), [
    `100644 blob ${blob('read me\n')}\tREADME`,
    `120000 blob ${blob('moved')}\tbin/link`,
    `100755 blob ${blob('')}\tbin/moved`,
    `100644 blob ${blob('c')}\tlib/c`,
    `100755 blob ${blob('newer')}\tnew/dir/file`,
    `160000 commit ${'b'.repeat(40)}\tvendor/module`,
    `160000 commit ${'c'.repeat(40)}\tvendor/other`,
  ])
})

void test('a file takes the place of a directory of its name', async () => {
  for (const change of [
    { action: 'create', path: 'lib', content: bytes('file') },
    { action: 'move', path: 'lib', from: 'README', content: bytes('file') },
    { action: 'move', path: 'lib', from: 'lib/a/one', content: bytes('file') },
  ] as const) {
    const tree = await repository.writeTree(base, [change])
    const found = listed(tree).filter((line) => line.includes('\tlib'))
    assert.deepEqual(found, [`100644 blob ${blob('file')}\tlib`])
  }
  const deeper = await repository.writeTree(base, [
    { action: 'move', path: 'README/now/below', from: 'README' },
  ])
  assert.ok(listed(deeper).includes(`100644 blob ${blob('read me\n')}\tREADME/now/below`))
})

void test('modes change only where a file is executable or is made so', async () => {
  const modeOf = async (change: Change): Promise<string | undefined> => {
    const tree = await repository.writeTree(base, [change])
    return listed(tree)
      .find((line) => line.endsWith(`\t${change.path}`))
      ?.slice(0, 6)
  }
  assert.equal(await modeOf({ action: 'chmod', path: 'README', executable: true }), '100755')
  assert.equal(await modeOf({ action: 'chmod', path: 'README', executable: false }), '100644')
  assert.equal(await modeOf({ action: 'chmod', path: 'bin/run', executable: false }), '100644')
  assert.equal(await modeOf({ action: 'chmod', path: 'bin/run', executable: true }), '100755')
  assert.equal(await modeOf({ action: 'create', path: 'x', content: bytes(''), executable: true }), '100755')
  assert.equal(await modeOf({ action: 'move', path: 'y', from: 'bin/link' }), '120000')
})

void test('a change that finds a file in its way, or none, refuses them all', async () => {
  const fine: Change = { action: 'create', path: 'fine', content: bytes('never stored') }
  const content = bytes('never stored either')
  const cases: [Change, string][] = [
    [{ action: 'create', path: 'README', content }, 'exists README 1'],
    [{ action: 'create', path: 'fine', content }, 'exists fine 1'],
    [{ action: 'create', path: 'README/below', content }, 'exists README/below 1'],
    [{ action: 'create', path: 'bin/link/below', content }, 'exists bin/link/below 1'],
    [{ action: 'create', path: 'vendor/module', content }, 'exists vendor/module 1'],
    [{ action: 'create', path: 'vendor/module/x', content }, 'exists vendor/module/x 1'],
    [{ action: 'update', path: 'absent', content }, 'missing absent 1'],
    [{ action: 'update', path: 'lib', content }, 'missing lib 1'],
    [{ action: 'update', path: 'README/below', content }, 'missing README/below 1'],
    [{ action: 'update', path: 'vendor/module', content }, 'missing vendor/module 1'],
    [{ action: 'delete', path: 'absent/x' }, 'missing absent/x 1'],
    [{ action: 'delete', path: 'lib' }, 'missing lib 1'],
    [{ action: 'chmod', path: 'lib', executable: true }, 'missing lib 1'],
    [{ action: 'chmod', path: 'bin/link', executable: true }, 'missing bin/link 1'],
    [{ action: 'move', path: 'README', from: 'lib/b' }, 'exists README 1'],
    [{ action: 'move', path: 'README', from: 'README' }, 'exists README 1'],
    [{ action: 'move', path: 'README', from: 'absent' }, 'exists README 1'],
    [{ action: 'move', path: 'x', from: 'lib' }, 'missing x 1'],
    [{ action: 'move', path: 'x', from: 'vendor/module' }, 'missing x 1'],
    [{ action: 'move', path: 'bin/link/x', from: 'README' }, 'exists bin/link/x 1'],
    [{ action: 'link', path: 'README', sha: link }, 'exists README 1'],
  ]
  for (const [change, expected] of cases) assert.equal(await refusal(base, [fine, change]), expected)
})

void test('paths that a checkout would write elsewhere are refused', async () => {
  const cases: Record<string, string> = {
    '': 'empty_path',
    '/': 'empty_path',
    '..': 'traversal',
    '../x': 'traversal',
    'a/../../b': 'traversal',
    'a/..': 'traversal',
    'a\\..\\b': 'traversal',
    'a//b': 'invalid_path',
    '//a': 'invalid_path',
    './a': 'invalid_path',
    'a/.': 'invalid_path',
    'a/': 'invalid_path',
    '.git': 'invalid_path',
    '.git/config': 'invalid_path',
    'a/.GIT/hooks/x': 'invalid_path',
    'git~1/x': 'invalid_path',
    'GIT~1': 'invalid_path',
    '.git. /x': 'invalid_path',
    '.git...': 'invalid_path',
    '.git::$INDEX_ALLOCATION/x': 'invalid_path',
    '.git:x': 'invalid_path',
    'a\\.git\\x': 'invalid_path',
    '.g\u200cit/x': 'invalid_path',
    '\ufeff.git': 'invalid_path',
    '.git\u200f': 'invalid_path',
    'a\nb': 'invalid_path',
    'a\tb': 'invalid_path',
    'a\0b': 'invalid_path',
    'a\u007fb': 'invalid_path',
    'a\ud800': 'invalid_path',
    ['x/'.repeat(2_048) + 'y']: 'invalid_path',
  }
  for (const [path, reason] of Object.entries(cases)) {
    const create: Change = { action: 'create', path, content: bytes('x') }
    assert.equal(await refusal(base, [create]), `${reason} ${path} 0`)
    assert.equal(await refusal(base, [{ action: 'move', path: 'z', from: path }]), `${reason} ${path} 0`)
    assert.equal(await refusal(undefined, [{ action: 'link', path, sha: link }]), `${reason} ${path} 0`)
  }
})

void test('unusual names that harm nobody are stored as they come', async () => {
  const names = [
    '.gitignore',
    '.gitmodules',
    'git~2',
    'a b',
    'dev-x\\x2dy.mount',
    'ünï/\u{1f600}',
    '\u202ebidi',
    '-x',
  ]
  names.push(
    '.github/x',
    'git',
    '...',
    ' ',
    '.git-x',
    '*',
    ':(glob)',
    'x'.repeat(255),
    `${'y/'.repeat(2_047)}zz`,
  )
  const tree = await repository.writeTree(
    undefined,
    names.map((path) => ({ action: 'create', path, content: bytes(path) }) as const),
  )
  const shown = gitBytes(directory, ['ls-tree', '-r', '-z', '--name-only', tree]).toString().split('\0')
  assert.deepEqual(new Set(shown), new Set([...names, '']))
  const tip = gitText(directory, ['commit-tree', '-m', 'names', tree])
  gitText(directory, ['update-ref', 'refs/heads/names', tip])
  gitText(directory, ['fsck', '--strict'])
})

void test('a symbolic link never becomes .gitmodules', async () => {
  for (const path of [
    '.gitmodules',
    'sub/.GitModules',
    '.gitmodules ',
    'GITMOD~1',
    '.gitmodules:x',
    '.git\u200dmodules',
  ]) {
    assert.equal(await refusal(base, [{ action: 'move', path, from: 'bin/link' }]), `invalid_path ${path} 0`)
  }
})

/** The result of one change of a flat list of files by the published rules; false when it is refused. */
function change(files: Map<string, File>, { action, path, from = '', file }: Step): boolean {
  const parents = path
    .split('/')
    .slice(0, -1)
    .map((_, index, all) => all.slice(0, index + 1).join('/'))
  const isBlocked = parents.some((parent) => files.has(parent) && parent !== from)
  const current = files.get(path)
  if (action === 'update' && current !== undefined) files.set(path, { mode: current.mode, id: file.id })
  else if (action === 'chmod' && current !== undefined) files.set(path, { mode: file.mode, id: current.id })
  else if (action === 'delete' && current !== undefined) files.delete(path)
  else if (action === 'create' || action === 'move') {
    const source = action === 'create' ? file : files.get(from)
    if (current !== undefined || source === undefined || isBlocked) return false
    files.delete(from)
    for (const other of files.keys()) if (other.startsWith(`${path}/`)) files.delete(other)
    files.set(path, source)
  } else return false
  return true
}

interface Step {
  action: 'create' | 'update' | 'move' | 'delete' | 'chmod'
  path: string
  from?: string
  file: File
}

void test('random lists of changes give the trees that git writes of the same files', async () => {
  const roll = dice(17)
  const names = ['a', 'b', 'a.b', 'a-b', 'ä', 'A', 'a0', '~']
  const contents = Array.from({ length: 6 }, (_, index) => `content ${index}\n`)
  const ids = contents.map(blob)
  const randomPath = (): string =>
    Array.from({ length: 1 + roll(3) }, () => names[roll(names.length)]).join('/')
  let refused = 0
  for (let round = 0; round < 150; round += 1) {
    const files = new Map<string, File>()
    for (let index = roll(30); index > 0; index -= 1) {
      change(files, {
        action: 'create',
        path: randomPath(),
        file: { mode: '100644', id: ids[roll(6)] ?? '' },
      })
    }
    const start = files.size === 0 ? undefined : commitOf(files)
    const changes: Change[] = []
    let isFine = true
    for (let index = 1 + roll(12); index > 0 && isFine; index -= 1) {
      const kind = (['create', 'update', 'move', 'delete', 'chmod'] as const)[roll(5)] ?? 'create'
      const known = [...files.keys()]
      const existing = known[roll(Math.max(known.length, 1))] ?? randomPath()
      const path = kind === 'create' || kind === 'move' || roll(15) === 0 ? randomPath() : existing
      const number = roll(6)
      const executable = roll(2) === 0
      const file = { mode: kind === 'chmod' && executable ? '100755' : '100644', id: ids[number] ?? '' }
      const content = bytes(contents[number] ?? '')
      isFine = change(files, { action: kind, path, file, ...(kind === 'move' && { from: existing }) })
      if (kind === 'move') changes.push({ action: kind, path, from: existing })
      else if (kind === 'chmod') changes.push({ action: kind, path, executable })
      else if (kind === 'delete') changes.push({ action: kind, path })
      else changes.push({ action: kind, path, content })
    }
    if (isFine)
      assert.equal(await repository.writeTree(start, changes), treeOf(files), JSON.stringify(changes))
    else {
      assert.match(
        await refusal(start, changes),
        new RegExp(` ${changes.length - 1}$`),
        JSON.stringify(changes),
      )
      refused += 1
    }
  }
  assert.ok(refused > 10 && refused < 140, String(refused))
  gitText(directory, ['fsck', '--strict', '--unreachable'])
})

void test('thousands of changes in one go', async () => {
  const changes = Array.from({ length: 6_000 }, (_, index): Change => ({
    action: 'create',
    path: `many/${index % 70}/${index}`,
    content: bytes(`${index}`),
  }))
  const tree = await repository.writeTree(base, [...changes, { action: 'delete', path: 'many/0/0' }])
  assert.equal(listed(tree).length, 7 + 5_999)
  const last = await repository.writeTree(
    gitText(directory, ['commit-tree', '-m', 'many', tree]),
    changes.slice(1).map(({ path }) => ({ action: 'delete', path })),
  )
  assert.equal(last, gitText(directory, ['rev-parse', `${base}^{tree}`]))
  gitText(directory, ['fsck', '--strict', '--unreachable'])
})
