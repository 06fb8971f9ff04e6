import assert from 'node:assert/strict'
import { readdirSync, utimesSync } from 'node:fs'
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
import type { Signature } from '../objects/commit.ts'
import { makeObject } from '../objects/objects.ts'
import { storeObjects, storePassing } from '../objects/object_store.ts'
import { maintain } from './maintenance.ts'

const root = scratch()
const git = openTestGit(root)
const directory = join(root, '0a/10.git')
writeHistory(directory, 100, 9)
const repository = git.repository('0a/10.git')
const store = join(directory, 'objects')
const who: Signature = { name: 'A', email: 'a@x', date: { seconds: 1_700_000_000, offset: '+0000' } }
const all = (): string[] =>
  gitLines(directory, ['cat-file', '--batch-all-objects', '--batch-check', '--unordered'])
const distinct = (): string[] => [...new Set(all())].toSorted()
const packs = (): string[] => readdirSync(join(store, 'pack')).filter((name) => name.endsWith('.pack'))
const looseFiles = (): string[] =>
  readdirSync(store, { recursive: true })
    .map(String)
    .filter((name) => /^[0-9a-f]{2}\/[0-9a-f]{38}$/.test(name))

/** Makes every object file three weeks old. */
function grow(): void {
  const then = Date.now() / 1_000 - 21 * 24 * 3_600
  for (const name of readdirSync(store, { recursive: true }).map(String)) {
    if (/^(?:[0-9a-f]{2}|pack)\/./.test(name)) utimesSync(join(store, name), then, then)
  }
}

/** A commit on main that changes `path`, as an area makes it. */
async function commit(path: string, content: string): Promise<string> {
  const ref = 'refs/heads/main'
  return repository.locked([ref], async () => {
    const from = await repository.ref(ref)
    assert.ok(from)
    const change = { action: 'create', path, content: Buffer.from(content) } as const
    const written = await repository.writeChanges(from, [change], {
      parents: [from],
      author: who,
      committer: who,
      message: path,
    })
    await repository.moveRefs([{ ref, from, to: written.commit }])
    return written.commit
  })
}

void test('nothing is done for a repository that is in order', async () => {
  const before = readdirSync(directory, { recursive: true }).map(String)
  assert.deepEqual(await maintain(git, '0a/10.git'), {
    packedRefs: false,
    packedObjects: false,
    expired: false,
  })
  assert.deepEqual(readdirSync(directory, { recursive: true }).map(String), before)
})

void test('many files become packs, and every object stays, reached or not', async () => {
  for (let round = 0; round < 400; round += 1) {
    const objects = [0, 1, 2, 3, 4, 5, 6].map((number) =>
      makeObject('blob', Buffer.from(`${round} ${number}`)),
    )
    await storePassing(store, await Promise.all(objects))
  }
  const before = distinct()
  assert.ok(looseFiles().length > 2_800)
  const head = await repository.commit(gitText(directory, ['rev-parse', 'main']))
  assert.equal((await maintain(git, '0a/10.git')).packedObjects, true)
  assert.deepEqual(distinct(), before)
  assert.equal(looseFiles().length, 0)
  assert.ok(packs().length < 5)
  assert.deepEqual(await repository.commit(head?.id ?? ''), head)
  gitText(directory, ['fsck', '--strict'])
})

void test('many packs and many refs become few', async () => {
  for (let round = 0; round < 40; round += 1) {
    const objects = Array.from({ length: 3 }, (_, number) =>
      makeObject('blob', Buffer.from(`p ${round} ${number}`)),
    )
    await storeObjects(store, await Promise.all(objects))
  }
  const tip = gitText(directory, ['rev-parse', 'main'])
  const lines = Array.from({ length: 1_100 }, (_, number) => `create refs/heads/many/${number} ${tip}\n`)
  gitText(directory, ['update-ref', '--stdin'], lines.join(''))
  const refs = gitLines(directory, ['for-each-ref'])
  const before = distinct()
  assert.deepEqual(await maintain(git, '0a/10.git'), {
    packedRefs: true,
    packedObjects: true,
    expired: false,
  })
  assert.ok(packs().length < 10)
  assert.deepEqual(distinct(), before)
  assert.deepEqual(gitLines(directory, ['for-each-ref']), refs)
  assert.equal((await repository.refs('refs/heads/many/')).length, 1_100)
})

void test('unreachable objects expire after two weeks, objects being written stay', async () => {
  const texts = ['forgotten', 'wanted again', 'wanted too']
  const [forgotten, again, too] = await Promise.all(
    texts.map((text) => makeObject('blob', Buffer.from(text))),
  )
  assert.ok(forgotten && again && too)
  await storeObjects(store, [forgotten, again, too])
  gitText(
    directory,
    ['pack-objects', '-q', join(store, 'pack/pack')],
    [forgotten, again, too].map(({ id }) => `${id}\n`).join(''),
  )
  gitText(directory, ['prune-packed'])
  assert.equal(looseFiles().length, 0)
  grow()
  // Two who write are between their objects and their refs when the clean-up comes.
  const base = gitText(directory, ['rev-parse', 'main'])
  const tree = await repository.writeTree(base, [
    { action: 'create', path: 'again', content: Buffer.from(texts[1] ?? '') },
    { action: 'create', path: 'too', content: Buffer.from(texts[2] ?? '') },
  ])
  const reached = gitLines(directory, ['rev-list', '--all', '--objects', '--no-object-names']).length
  await maintain(git, '0a/10.git', { expire: true })
  const id = await repository.writeCommit({
    tree,
    parents: [base],
    author: who,
    committer: who,
    message: 'x',
  })
  await maintain(git, '0a/10.git', { expire: true })
  await repository.moveRefs([{ ref: 'refs/heads/main', from: base, to: id }])
  gitText(directory, ['fsck', '--strict'])
  assert.equal(gitBytes(directory, ['show', 'main:again']).toString(), texts[1])
  assert.equal(gitBytes(directory, ['show', 'main:too']).toString(), texts[2])
  assert.equal(
    distinct().some((line) => line.startsWith(forgotten.id)),
    false,
  )
  const after = gitLines(directory, ['rev-list', '--all', '--objects', '--no-object-names']).length
  assert.equal(after, reached + 4)
  assert.equal(await repository.blob(forgotten.id), undefined)
})

void test('unreachable objects are searched weekly', async () => {
  const expired = async (): Promise<boolean> => (await maintain(git, '0a/10.git')).expired
  assert.equal(await expired(), false)
  const then = Date.now() / 1_000 - 8 * 24 * 3_600
  utimesSync(join(directory, 'info/expired'), then, then)
  assert.deepEqual([await expired(), await expired()], [true, false])
})

void test('commits and reads go on while everything is packed', async () => {
  let going = true
  const written: string[] = []
  const writer = (async () => {
    for (let number = 0; going; number += 1) written.push(await commit(`during/${number}`, `${number}`))
  })()
  for (const expire of [true, false, true]) await maintain(git, '0a/10.git', { expire })
  going = false
  await writer
  assert.ok(written.length > 3)
  const line = gitLines(directory, ['rev-list', '--first-parent', `--max-count=${written.length}`, 'main'])
  assert.deepEqual(line, written.toReversed())
  for (const id of written) assert.equal((await repository.commit(id))?.committer.name, 'A')
  gitText(directory, ['fsck', '--strict'])
})
