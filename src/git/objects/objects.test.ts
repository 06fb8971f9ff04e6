import assert from 'node:assert/strict'
import { readdirSync, rmSync, statSync, utimesSync } from 'node:fs'
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
import { MAX_MESSAGE_BYTES, type Signature } from './commit.ts'
import { isGitError } from '../errors.ts'
import { looseFile, storeObjects } from './object_store.ts'
import { cleanSignatureText, isSignatureText, makeObject, type NewCommit } from './objects.ts'
import { treeBytes } from './tree_lines.ts'

const root = scratch()
const git = openTestGit(root)
const directory = join(root, 'a/objects.git')
initRepository(directory)
const repository = git.repository('a/objects.git')
const store = join(directory, 'objects')
const emptyTree = await repository.writeTree(undefined, [])
const person: Signature = {
  name: 'Ada Lovelace',
  email: 'ada@example.org',
  date: { seconds: 1_700_000_000, offset: '+0130' },
}
const plain: NewCommit = {
  tree: emptyTree,
  parents: [],
  author: person,
  committer: person,
  message: 'Title\n\nBody',
}

const packs = (): string[] => readdirSync(join(store, 'pack')).toSorted()
const fsck = (): string => gitText(directory, ['fsck', '--strict', '--full', '--unreachable'])

void test('blobs of every size are stored as git names and reads them, as files and in a pack', async () => {
  const roll = dice(5)
  const sizes = [0, 1, 15, 16, 17, 2_047, 2_048, 16_384, 16_385, 65_536, 300_000, 3_000_000]
  const contents = sizes.map((size) => Buffer.from(Array.from({ length: size }, () => 32 + roll(64))))
  const pairs = [0, 2, 4, 10].map((start) => contents.slice(start, start + 2))
  for (const some of [...pairs, contents]) {
    const objects = await Promise.all(some.map((bytes) => makeObject('blob', bytes)))
    await storeObjects(store, objects)
    for (const [index, { id }] of objects.entries()) {
      assert.equal(gitText(directory, ['hash-object', '--stdin'], some[index]), id)
      assert.deepEqual(gitBytes(directory, ['cat-file', 'blob', id]), some[index])
      const blob = await repository.blob(id)
      assert.equal(blob?.size, some[index]?.length)
      assert.deepEqual(await blob?.read(3_000_000), some[index])
    }
  }
  assert.equal(packs().length, 2)
  gitText(directory, ['verify-pack', join(store, 'pack', packs()[0] ?? '')])
  fsck()
  const large = await makeObject('blob', contents.at(-1) ?? Buffer.alloc(0))
  const blob = await repository.blob(large.id)
  await assert.rejects(
    async () => blob?.read(2_999_999),
    (error) => isGitError(error, 'too_large'),
  )
  assert.equal(await repository.blob(emptyTree), undefined)
  assert.equal(await repository.blob('1'.repeat(40)), undefined)
})

void test('trees of every size are stored as git names and reads them, as files and in a pack', async () => {
  const blob = await makeObject('blob', Buffer.from('in many trees'))
  const trees = await Promise.all(
    [0, 1, 60, 480, 481, 482, 483, 2_000].map((count) => {
      const lines = Array.from({ length: count }, (_, index) => {
        return { mode: '100644', key: `\xff\xff${1_000 + index}`, id: blob.id }
      })
      return makeObject('tree', treeBytes(lines))
    }),
  )
  // Without compression up to 16 KB, with it above.
  assert.deepEqual(trees.map(({ body }) => body.length > 16 * 1024).indexOf(true), 5)
  for (const some of [[blob], ...trees.map((tree) => [tree]), [blob, ...trees]]) {
    await storeObjects(store, some)
    for (const { id, type, body } of some) {
      assert.equal(gitText(directory, ['hash-object', '-t', type, '--stdin'], body), id)
      assert.deepEqual(gitBytes(directory, ['cat-file', type, id]), body)
    }
  }
  const [file = ''] = packs().slice(-1)
  gitText(directory, ['verify-pack', join(store, 'pack', file.replace(/pack$/, 'idx'))])
  fsck()
})

void test('a stored object is not written again but counts as fresh', async () => {
  const object = await makeObject('blob', Buffer.from('kept'))
  await storeObjects(store, [object, object])
  const file = looseFile(store, object.id)
  const { ino } = statSync(file)
  utimesSync(file, 1_000_000_000, 1_000_000_000)
  await storeObjects(store, [object])
  assert.equal(statSync(file).ino, ino)
  assert.ok(statSync(file).mtimeMs > Date.now() - 60_000)
  const before = packs()
  const many = await Promise.all(
    Array.from({ length: 20 }, (_, index) => makeObject('blob', Buffer.from(`${index}`))),
  )
  await storeObjects(store, many)
  await storeObjects(store, many)
  assert.equal(packs().length, before.length + 2)
})

void test('an object that is only in a pack gets a file, so that no clean-up of old packs takes it away', async () => {
  const object = await makeObject('blob', Buffer.from('packed'))
  await storeObjects(store, [object])
  gitText(directory, ['pack-objects', '-q', join(store, 'pack/pack')], `${object.id}\n`)
  rmSync(looseFile(store, object.id), { force: true })
  await storeObjects(store, [object])
  assert.ok(statSync(looseFile(store, object.id)).size > 0)
  fsck()
})

void test('directories that maintenance removed are made again', async () => {
  const object = await makeObject('blob', Buffer.from('somewhere'))
  rmSync(join(store, object.id.slice(0, 2)), { recursive: true, force: true })
  rmSync(join(store, 'pack'), { recursive: true })
  await storeObjects(store, [object])
  const many = await Promise.all(
    Array.from({ length: 12 }, (_, index) => makeObject('blob', Buffer.from(`m${index}`))),
  )
  await storeObjects(store, many)
  for (const { id } of [object, ...many]) assert.equal(gitText(directory, ['cat-file', '-t', id]), 'blob')
  assert.equal(packs().length, 2)
})

void test('nothing temporary is left, and many writers at once do not disturb each other', async () => {
  await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const count = index % 3 === 0 ? 14 : 2
      const texts = Array.from({ length: count }, (__, number) => Buffer.from(`${(index % 10) * number}`))
      await storeObjects(store, await Promise.all(texts.map((text) => makeObject('blob', text))))
    }),
  )
  const names = readdirSync(store, { recursive: true }).map(String)
  assert.deepEqual(
    names.filter((name) => name.includes('tmp_')),
    [],
  )
  fsck()
})

void test('a commit is stored as it is given, and git finds nothing wrong with it', async () => {
  const first = await repository.writeCommit(plain)
  const texts = [
    '',
    'Title',
    'Title\n',
    '\n\n x \n\n',
    'ünï \u{1f600}\r\nline',
    'tree abc\nparent x\n',
    '\u0001\u007f',
    'x'.repeat(MAX_MESSAGE_BYTES),
  ]
  for (const message of texts) {
    const author = { ...person, name: `Jürgen "J" O'Neil, jr.`, date: { seconds: 0, offset: '-1130' } }
    const id = await repository.writeCommit({
      ...plain,
      parents: [first],
      author,
      message,
    })
    const commit = await repository.commit(id)
    assert.deepEqual(commit, { id, tree: emptyTree, parents: [first], author, committer: person, message })
    assert.equal(
      gitBytes(directory, ['cat-file', 'commit', id]).toString().split('\n\n').slice(1).join('\n\n'),
      message,
    )
  }
  const nobody = await repository.writeCommit({ ...plain, author: { ...person, name: '', email: '' } })
  assert.equal(gitText(directory, ['log', '-1', '--format=%an|%ae', nobody]), '|')
  fsck()
})

void test('a message beyond the limit is cut where it is read, between two characters', async () => {
  const id = await repository.writeCommit({ ...plain, message: `x${'ü'.repeat(MAX_MESSAGE_BYTES / 2)}` })
  const commit = await repository.commit(id)
  assert.equal(commit?.message, `x${'ü'.repeat(MAX_MESSAGE_BYTES / 2 - 1)}`)
})

void test('texts that would forge a header are refused, and nothing is stored', async () => {
  const before = gitLines(directory, ['cat-file', '--batch-all-objects', '--batch-check'])
  const refused = (commit: Partial<NewCommit>): Promise<void> =>
    assert.rejects(repository.writeCommit({ ...plain, ...commit }), (error) => isGitError(error, 'refused'))
  for (const text of ['a <b>\ncommitter x', 'a\nb', 'a\0b', '<', '>', 'a\rb', '\ud800', '\t']) {
    await refused({ author: { ...person, name: text } })
    await refused({ committer: { ...person, name: text } })
    await refused({ author: { ...person, email: text } })
    await refused({ committer: { ...person, email: text } })
  }
  await refused({ message: 'a\0b' })
  for (const seconds of [-1, 1.5, Number.NaN, 2 ** 60])
    await refused({ author: { ...person, date: { seconds, offset: '+0000' } } })
  const wrong: Partial<NewCommit>[] = [
    { tree: 'main' },
    { parents: ['HEAD'] },
    { parents: [`${emptyTree}\nparent x`] },
    { author: { ...person, date: { seconds: 1, offset: 'Z' } } },
  ]
  for (const commit of wrong) await assert.rejects(repository.writeCommit({ ...plain, ...commit }), TypeError)
  assert.deepEqual(gitLines(directory, ['cat-file', '--batch-all-objects', '--batch-check']), before)
})

void test('names that come from elsewhere are made fit for a commit much as git does it', async () => {
  const names = [
    'Ada',
    ' Ada ',
    'a <b>\ncommitter x',
    ',:;"\\\' Ada ,:;"\\\'',
    'A.B.',
    '<>',
    'A\u0001B',
    "O'Neil",
    '\ttab\t',
  ]
  for (const name of names) {
    const id = await repository.writeCommit({
      ...plain,
      author: { ...person, name: cleanSignatureText(name) },
    })
    assert.equal((await repository.commit(id))?.author.name, cleanSignatureText(name))
    assert.equal(isSignatureText(cleanSignatureText(name)), true)
  }
  assert.deepEqual(names.map(cleanSignatureText), [
    'Ada',
    'Ada',
    'a bcommitter x',
    'Ada',
    'A.B.',
    '',
    'AB',
    "O'Neil",
    'tab',
  ])
  fsck()
})

void test('a commit with its tree in one go is the same as in two', async () => {
  const changes = [{ action: 'create', path: 'a/b', content: Buffer.from('c') }] as const
  const tree = await repository.writeTree(undefined, changes)
  const commit = await repository.writeCommit({ ...plain, tree })
  assert.deepEqual(await repository.writeChanges(undefined, changes, plain), { commit, tree })
  const next = await repository.writeChanges(commit, [{ action: 'delete', path: 'a/b' }], {
    ...plain,
    parents: [commit],
  })
  assert.equal(next.tree, emptyTree)
  fsck()
})

void test('an annotated tag is stored as it is given', async () => {
  const object = await repository.writeCommit(plain)
  const id = await repository.writeTag({
    object,
    name: 'v1.0',
    tagger: person,
    message: 'Release\n\nnotes\n',
  })
  assert.deepEqual(await repository.tag(id), {
    id,
    object,
    type: 'commit',
    name: 'v1.0',
    tagger: person,
    message: 'Release\n\nnotes\n',
  })
  await repository.moveRefs([{ ref: 'refs/tags/v1.0', from: undefined, to: id }])
  fsck()
  assert.deepEqual(await repository.refs('refs/tags/'), [{ name: 'refs/tags/v1.0', id, commit: object }])
  const absent = { object: '1'.repeat(40), name: 'x', tagger: person, message: '' }
  await assert.rejects(repository.writeTag(absent), (error) => isGitError(error, 'gone'))
  await assert.rejects(repository.writeTag({ ...absent, object, name: 'a\ntagger x' }), TypeError)
})
