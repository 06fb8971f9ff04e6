import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { gitText, initRepository, openTestGit, scratch } from '../../../test/support/git_fixtures.ts'
import { PatchReader, type FilePatch, type PatchLimits } from './patch.ts'

const root = scratch()
const git = openTestGit(root)
const directory = join(root, 'r.git')
initRepository(directory)
const repository = git.repository('r.git')

type Entry = readonly [mode: string, path: string, content: string]
/** Writes a tree from whole paths, however odd. */
function writeTree(entries: readonly Entry[]): string {
  const below = new Map<string, Entry[]>()
  const lines = entries.flatMap(([mode, path, content]) => {
    const at = path.indexOf('/')
    if (at !== -1) {
      const rest: Entry = [mode, path.slice(at + 1), content]
      below.set(path.slice(0, at), [...(below.get(path.slice(0, at)) ?? []), rest])
      return []
    }
    const id =
      mode === '160000'
        ? content
        : gitText(directory, ['hash-object', '-w', '--stdin', '--no-filters'], content)
    return [`${mode} ${mode === '160000' ? 'commit' : 'blob'} ${id}\t${path}\0`]
  })
  for (const [name, rest] of below) lines.push(`040000 tree ${writeTree(rest)}\t${name}\0`)
  return gitText(directory, ['mktree', '-z', '--missing'], lines.join(''))
}

const file = (changes: Partial<FilePatch>): FilePatch => ({
  oldPath: 'f',
  newPath: 'f',
  oldMode: '100644',
  newMode: '100644',
  newFile: false,
  renamedFile: false,
  deletedFile: false,
  diff: '',
  tooLarge: false,
  ...changes,
})
const named = (path: string): { oldPath: string; newPath: string } => ({ oldPath: path, newPath: path })
const SHA = 'a'.repeat(40)
const OTHER = 'b'.repeat(40)
const LONG = Array.from({ length: 40 }, (_, i) => `line ${i}`).join('\n')

test('a difference tells every file, what became of it, and its hunks', async () => {
  const from = writeTree([
    ['100644', 'f', 'one\ntwo\n'],
    ['100644', 'gone', 'x\n'],
    ['100644', 'moved/from', LONG],
    ['100644', 'mode', 'same\n'],
    ['100644', 'binary', 'a\0b'],
    ['120000', 'link', 'f'],
    ['120000', 'turned', 'f'],
    ['160000', 'module', SHA],
  ])
  const to = writeTree([
    ['100644', 'f', 'one\nzwei\n'],
    ['100644', 'moved/to', LONG],
    ['100755', 'mode', 'same\n'],
    ['100644', 'binary', 'a\0c'],
    ['120000', 'link', 'mode'],
    ['100644', 'turned', 'text\n'],
    ['160000', 'module', OTHER],
    ['100644', 'new', 'fresh'],
    ['100644', 'empty', ''],
  ])
  const { files, complete } = await repository.patch(from, to)
  assert.equal(complete, true)
  assert.deepEqual(files, [
    file({ ...named('binary'), diff: 'Binary files a/binary and b/binary differ\n' }),
    file({ ...named('empty'), oldMode: '0', newFile: true }),
    file({ diff: '@@ -1,2 +1,2 @@\n one\n-two\n+zwei\n' }),
    file({ ...named('gone'), newMode: '0', deletedFile: true, diff: '@@ -1 +0,0 @@\n-x\n' }),
    file({
      ...named('link'),
      oldMode: '120000',
      newMode: '120000',
      diff: '@@ -1 +1 @@\n-f\n\\ No newline at end of file\n+mode\n\\ No newline at end of file\n',
    }),
    file({ ...named('mode'), newMode: '100755' }),
    file({
      ...named('module'),
      oldMode: '160000',
      newMode: '160000',
      diff: `@@ -1 +1 @@\n-Subproject commit ${SHA}\n+Subproject commit ${OTHER}\n`,
    }),
    file({ oldPath: 'moved/from', newPath: 'moved/to', renamedFile: true }),
    file({
      ...named('new'),
      oldMode: '0',
      newFile: true,
      diff: '@@ -0,0 +1 @@\n+fresh\n\\ No newline at end of file\n',
    }),
    file({
      ...named('turned'),
      oldMode: '120000',
      diff: '@@ -1 +0,0 @@\n-f\n\\ No newline at end of file\n@@ -0,0 +1 @@\n+text\n',
    }),
  ])
  assert.deepEqual(await repository.patch(to, to), { files: [], complete: true })
})

test('names and texts that look like a difference do not pass for one', async () => {
  const names = ['a\nb', 'a\tb', '"q"', 'ümläut', 'diff --git a b', ':100644 x', ' ', '\\', '@@ -1 +1 @@']
  const text = 'diff --git a/x b/x\n@@ -1 +1 @@\n--- a/x\n+++ b/x\nBinary files a and b differ\n'
  const from = writeTree(names.map((name) => ['100644', name, text]))
  const to = writeTree(names.map((name) => ['100644', name, `${text}-- \n++ \n`]))
  const { files } = await repository.patch(from, to)
  assert.deepEqual(files.map(({ newPath }) => newPath).toSorted(), names.toSorted())
  for (const { diff } of files)
    assert.equal(
      diff,
      '@@ -3,3 +3,5 @@ diff --git a/x b/x\n --- a/x\n +++ b/x\n Binary files a and b differ\n+-- \n+++ \n',
    )
})

test('lines that are no UTF-8 are read as Latin-1, names as they can be, and nothing throws', async () => {
  const from = writeTree([['100644', 'f', 'a\n']])
  const blob = gitText(
    directory,
    ['hash-object', '-w', '--stdin'],
    Buffer.concat([Buffer.from('Grüße\n'), Buffer.from('Grüße\n', 'latin1')]),
  )
  const name = Buffer.from([0x66, 0xff])
  const entry = Buffer.concat([Buffer.from(`100644 blob ${blob}\t`), name, Buffer.from([0])])
  const to = gitText(directory, ['mktree', '-z'], entry)
  const { files } = await repository.patch(from, to)
  assert.deepEqual(
    files.map(({ newPath, diff }) => [newPath, diff]),
    [
      ['f', '@@ -1 +0,0 @@\n-a\n'],
      ['f\u{fffd}', '@@ -0,0 +1,2 @@\n+Grüße\n+Grüße\n'],
    ],
  )
})

test('a file that is too large is named without its text, the others keep theirs', async () => {
  const from = writeTree([['100644', 'z', 'a\n']])
  const to = writeTree([
    ['100644', 'one line', 'x'.repeat(3_000_000)],
    ['100644', 'lines', 'x\n'.repeat(200_000)],
    ['100644', 'z', 'b\n'],
  ])
  const { files, complete } = await repository.patch(from, to)
  assert.equal(complete, true)
  assert.deepEqual(
    files.map(({ newPath, diff, tooLarge }) => [newPath, diff, tooLarge]),
    [
      ['lines', '', true],
      ['one line', '', true],
      ['z', '@@ -1 +1 @@\n-a\n+b\n', false],
    ],
  )
})

test('past what all files together may take, files are named without their texts', async () => {
  const text = `${'y'.repeat(99)}\n`.repeat(1_000)
  const names = Array.from({ length: 100 }, (_, i) => `f${String(i).padStart(2, '0')}`)
  const { files, complete } = await repository.patch(
    undefined,
    writeTree(names.map((name) => ['100644', name, `${name}\n${text}`])),
  )
  assert.equal(complete, true)
  assert.deepEqual(
    files.map(({ newPath }) => newPath),
    names,
  )
  const left = files.findIndex(({ tooLarge }) => tooLarge)
  assert.equal(left, 49, 'fifty thousand lines')
  assert.ok(files.slice(left).every(({ tooLarge, diff }) => tooLarge && diff === ''))
  assert.ok(files.slice(0, left).every(({ diff }) => diff.length > 100_000))
})

test('of more files than are told, the first are told', async () => {
  const blob = gitText(directory, ['hash-object', '-w', '--stdin'], 'x\n')
  const lines = Array.from(
    { length: 3_500 },
    (_, i) => `100644 blob ${blob}\tf${String(i).padStart(4, '0')}\0`,
  )
  const { files, complete } = await repository.patch(
    undefined,
    gitText(directory, ['mktree', '-z'], lines.join('')),
  )
  assert.deepEqual([files.length, complete], [3_000, false])
  assert.equal(files.at(-1)?.newPath, 'f2999')
})

test('it does not matter where the bytes are cut', () => {
  const limits: PatchLimits = { files: 10, fileBytes: 100, fileLines: 10, bytes: 1_000, lines: 100 }
  const body = '@@ -1 +1 @@\n-a\n+ü\n'
  const id = '1'.repeat(40)
  const text = [
    `:100644 100644 ${id} ${id} M\0a\nb\0:100644 100644 ${id} ${id} R090\0x\0ÿ\0\0`,
    `diff --git "a/a\\nb" "b/a\\nb"\nindex 1..2 100644\n--- a\n+++ b\n${body}`,
    `diff --git a/x b/y\nsimilarity index 90%\n--- a\n+++ b\n${body}`,
  ].join('')
  const bytes = Buffer.from(text)
  for (let size = 1; size <= bytes.length; size += 1) {
    const reader = new PatchReader(limits)
    for (let at = 0; at < bytes.length; at += size) reader.push(bytes.subarray(at, at + size))
    const { files } = reader.end()
    assert.deepEqual(files, [
      file({ ...named('a\nb'), diff: body }),
      file({ oldPath: 'x', newPath: 'ÿ', renamedFile: true, diff: body }),
    ])
  }
})
