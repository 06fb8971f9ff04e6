import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import {
  gitBytes,
  gitLines,
  gitText,
  initRepository,
  openTestGit,
  scratch,
} from '../../test/support/git_fixtures.ts'
import { isGitError } from './errors.ts'
import type { Signature } from './objects/commit.ts'

const root = scratch()
const git = openTestGit(root)
const directory = join(root, 'a/writers.git')
initRepository(directory)
const repository = git.repository('a/writers.git')
const who: Signature = { name: 'W', email: 'w@x', date: { seconds: 1_700_000_000, offset: '+0000' } }
const ref = 'refs/heads/main'

/** One commit on top of whatever the branch is at when its turn comes. */
function commit(path: string, files = 1): Promise<string> {
  return repository.locked([ref], async () => {
    const from = await repository.ref(ref)
    const changes = Array.from(
      { length: files },
      (_, number) => ({ action: 'create', path: `${path}/${number}`, content: Buffer.from(path) }) as const,
    )
    const written = await repository.writeChanges(from, changes, {
      parents: from === undefined ? [] : [from],
      author: who,
      committer: who,
      message: path,
    })
    await repository.moveRefs([{ ref, from, to: written.commit }])
    return written.commit
  })
}

void test('of 16 who write to one branch each commit is there, one after the other, and none waits for ever', async () => {
  const order: number[] = []
  const written = await Promise.all(
    Array.from({ length: 16 }, async (_, writer) => {
      const ids: string[] = []
      for (let number = 0; number < 8; number += 1) {
        ids.push(await commit(`w${writer}/${number}`, number % 4 === 0 ? 14 : 1))
        order.push(writer)
      }
      return ids
    }),
  )
  const line = gitLines(directory, ['rev-list', '--parents', 'main']).map((text) => text.split(' '))
  assert.equal(line.length, 128)
  for (const [index, [, ...parents]] of line.entries()) {
    assert.deepEqual(parents, index === 127 ? [] : [line[index + 1]?.[0]])
  }
  assert.deepEqual(new Set(written.flat()), new Set(line.map(([id]) => id)))
  const files = gitBytes(directory, ['ls-tree', '-r', '--name-only', 'main']).toString().trimEnd().split('\n')
  assert.equal(files.length, 16 * (2 * 14 + 6))
  // Each of them had its turn before anybody had a second one more than the others.
  for (let round = 0; round < 8; round += 1) {
    assert.equal(new Set(order.slice(16 * round, 16 * round + 16)).size, 16)
  }
  gitText(directory, ['fsck', '--strict', '--full'])
})

void test('git may write beside it: what either has moved the other never overwrites', async () => {
  const theirs: string[] = []
  let pushed = 0
  const pusher = (async () => {
    for (let number = 0; number < 12; number += 1) {
      const tip = gitText(directory, ['rev-parse', ref])
      const id = gitText(directory, ['commit-tree', '-p', tip, '-m', `push ${number}`, `${tip}^{tree}`])
      await new Promise(setImmediate)
      try {
        gitText(directory, ['update-ref', ref, id, tip])
        theirs.push(id)
        pushed += 1
      } catch {
        // It moved meanwhile, as it may.
      }
    }
  })()
  const ours: string[] = []
  for (let number = 0; number < 30; number += 1) {
    await commit(`beside/${number}`).then(
      (id) => ours.push(id),
      () => undefined,
    )
  }
  await pusher
  const line = new Set(gitLines(directory, ['rev-list', 'main']))
  for (const id of [...ours, ...theirs]) assert.ok(line.has(id), id)
  assert.equal(line.size, 128 + ours.length + pushed)
  assert.ok(ours.length > 0)
  gitText(directory, ['fsck', '--strict'])
})

void test('a branch moves to a commit only once that is stored; when it cannot be, the branch stays and the next one goes on', async () => {
  const fresh = join(root, 'a/unstored.git')
  initRepository(fresh)
  const other = git.repository('a/unstored.git')
  const write = (from: string | undefined, path: string): Promise<{ commit: string }> =>
    other.writeChanges(from, [{ action: 'create', path, content: Buffer.from(path) }], {
      parents: from === undefined ? [] : [from],
      author: who,
      committer: who,
      message: path,
    })
  const first = await write(undefined, 'a/first')
  await other.moveRefs([{ ref, from: undefined, to: first.commit }])
  const lost = await write(first.commit, 'a/lost')
  const packs = join(fresh, 'objects/pack')
  const nameless = readdirSync(packs).filter((name) => name.startsWith('tmp_'))
  assert.equal(nameless.length, 2)
  for (const name of nameless) rmSync(join(packs, name))
  await assert.rejects(other.moveRefs([{ ref, from: first.commit, to: lost.commit }]), { code: 'ENOENT' })
  assert.equal(existsSync(join(fresh, `${ref}.lock`)), false)
  assert.equal(gitText(fresh, ['rev-parse', '--verify', ref]), first.commit)
  // Nor does anybody else take it for stored.
  await assert.rejects(other.moveRefs([{ ref, from: first.commit, to: lost.commit }]), (error) =>
    isGitError(error, 'refused'),
  )
  const next = await write(first.commit, 'a/next')
  await other.moveRefs([{ ref, from: first.commit, to: next.commit }])
  assert.equal(gitLines(fresh, ['rev-list', ref]).length, 2)
  gitText(fresh, ['fsck', '--strict'])
})
