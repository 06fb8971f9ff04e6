import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  gitBytes,
  gitLines,
  gitText,
  openTestGit,
  scratch,
  writeHistory,
} from '../../../test/support/git_fixtures.ts'
import type { Entry } from './tree.ts'

const root = scratch()
const git = openTestGit(root)
const directory = join(root, 'a/trees.git')
writeHistory(directory, 200, 19)
const repository = git.repository('a/trees.git')

/** The listing of git, a line for each entry: mode, type, hash and whole path. */
function shown(treeish: string, ...options: string[]): string[] {
  const text = gitBytes(directory, ['ls-tree', '-z', '--full-tree', ...options, treeish]).toString()
  return text.split('\0').slice(0, -1)
}

const lineOf = ({ mode, type, id, path }: Entry): string => `${mode} ${type} ${id}\t${path}`

void test('directories are listed as git lists them, alone and with all below, and whatever the page', async () => {
  for (const commit of gitLines(directory, ['rev-list', '--all']).filter((_, index) => index % 9 === 0)) {
    for (const recursive of [false, true]) {
      const expected = shown(commit, ...(recursive ? ['-r', '-t'] : []))
      const found: string[] = []
      for (let skip = 0; skip <= expected.length; skip += 7) {
        const page = await repository.entries(commit, { path: '', recursive, skip, limit: 7 })
        assert.ok(page && page.length <= 7)
        found.push(...page.map(lineOf))
      }
      assert.deepEqual(found, expected)
      const tree = gitText(directory, ['rev-parse', `${commit}^{tree}`])
      const whole = await repository.entries(tree, { path: '/', recursive, skip: 0, limit: 10_000 })
      assert.deepEqual(whole?.map(lineOf), expected)
    }
  }
})

void test('every path leads to what git finds there, and no other to anything', async () => {
  const [tip = ''] = gitLines(directory, ['rev-list', '-1', 'main'])
  const all = shown(tip, '-r', '-t')
  assert.ok(all.some((line) => line.includes('\u00fc')))
  for (const line of all) {
    const path = line.slice(line.indexOf('\t') + 1)
    const entry = await repository.entry(tip, path)
    assert.ok(entry)
    assert.equal(lineOf(entry), line)
    assert.equal(entry.name, path.split('/').at(-1))
    assert.deepEqual(await repository.entry(tip, `/${path}/`), entry)
    const below = await repository.entries(tip, { path, recursive: true, skip: 0, limit: 10_000 })
    const expected = all.filter((other) => other.slice(other.indexOf('\t') + 1).startsWith(`${path}/`))
    assert.deepEqual(below?.map(lineOf), entry.type === 'tree' ? expected : undefined)
  }
  for (const path of [
    '',
    '/',
    'absent',
    'README.md/x',
    'src/absent/x',
    '..',
    'src/../README.md',
    'src//a.ts',
    'a\0b',
    'SRC',
  ]) {
    assert.equal(await repository.entry(tip, path), undefined, path)
  }
  for (const treeish of [
    'main',
    'HEAD',
    '1'.repeat(40),
    '',
    all.find((line) => line.includes(' blob '))?.slice(12, 52) ?? '',
  ]) {
    assert.equal(await repository.entry(treeish, 'README.md'), undefined, treeish)
    assert.equal(await repository.entries(treeish, { path: '', skip: 0, limit: 1 }), undefined, treeish)
  }
})

void test('names that are no UTF-8, links, submodules and old modes are listed without a fault', async () => {
  const blob = gitText(directory, ['hash-object', '-w', '--stdin'], 'x')
  const tree = gitText(directory, ['rev-parse', 'main^{tree}'])
  const raw = (mode: string, name: Buffer | string, id: string): Buffer =>
    Buffer.concat([Buffer.from(`${mode} `), Buffer.from(name), Buffer.from([0]), Buffer.from(id, 'hex')])
  const body = Buffer.concat([
    raw('100664', Buffer.from([0x61, 0xff]), blob),
    raw('040000', 'dir', tree),
    raw('120000', 'link', blob),
    raw('160000', 'module', 'c'.repeat(40)),
    raw('100755', 'new\nline', blob),
  ])
  const id = gitText(directory, ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], body)
  const entries = await repository.entries(id, { path: '', skip: 0, limit: 10 })
  assert.deepEqual(entries?.map(lineOf), [
    `100664 blob ${blob}\ta\ufffd`,
    `040000 tree ${tree}\tdir`,
    `120000 blob ${blob}\tlink`,
    `160000 commit ${'c'.repeat(40)}\tmodule`,
    `100755 blob ${blob}\tnew\nline`,
  ])
  assert.equal((await repository.entry(id, 'dir/README.md'))?.type, 'blob')
  assert.equal(await repository.entry(id, 'module/x'), undefined)
})

void test('names that are no UTF-8 survive a change beside them', async () => {
  const blob = gitText(directory, ['hash-object', '-w', '--stdin'], 'x')
  const name = Buffer.from([0x61, 0xff, 0x62])
  const body = Buffer.concat([Buffer.from('100644 '), name, Buffer.from([0]), Buffer.from(blob, 'hex')])
  const tree = gitText(directory, ['hash-object', '-t', 'tree', '-w', '--stdin', '--literally'], body)
  const base = gitText(directory, ['commit-tree', '-m', 'odd', tree])
  const changed = await repository.writeTree(base, [
    { action: 'create', path: 'z', content: Buffer.from('x') },
  ])
  const listed = gitBytes(directory, ['ls-tree', '-z', '--name-only', changed])
  assert.deepEqual(listed, Buffer.concat([name, Buffer.from('\0z\0')]))
})
