import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gitLines, gitText, openTestGit, scratch, writeHistory } from '../../../test/support/git_fixtures.ts'
import { isGitError, type GitFault } from '../errors.ts'
import type { RefMove } from './refs.ts'

const root = scratch()
const git = openTestGit(root)
const directory = join(root, 'a/refs.git')
writeHistory(directory, 120, 7)
const repository = git.repository('a/refs.git')
const [first = '', second = '', third = ''] = gitLines(directory, ['rev-list', '--max-count=3', 'main'])

const fault =
  (wanted: GitFault) =>
  (error: unknown): boolean =>
    isGitError(error, wanted)

const shown = (): string[] => gitLines(directory, ['for-each-ref', '--format=%(objectname) %(refname)'])

/** Expects the moves to fail with `wanted` and every ref, and every file below refs/, to be as before. */
async function expectRefusal(moves: readonly RefMove[], wanted: GitFault): Promise<void> {
  const before = shown()
  await assert.rejects(repository.moveRefs(moves), fault(wanted), JSON.stringify(moves))
  assert.deepEqual(shown(), before)
  assert.deepEqual(locks(), [])
}

function locks(): string[] {
  return readdirSync(directory, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith('.lock'))
}

async function expectListed(): Promise<void> {
  const format = '%(refname) %(objectname) %(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)'
  for (const prefix of ['refs/heads/', 'refs/tags/', 'refs/absent/']) {
    const expected = gitLines(directory, ['for-each-ref', `--format=${format}`, prefix])
    const found = await repository.refs(prefix)
    assert.deepEqual(
      found.map(({ name, id }) => `${name} ${id}`),
      expected.map((line) => line.split(' ').slice(0, 2).join(' ')),
    )
    for (const { name, commit } of found) {
      assert.equal(commit, gitText(directory, ['rev-parse', '--verify', `${name}^{commit}`]), name)
      assert.equal(await repository.ref(name), found.find((ref) => ref.name === name)?.id)
    }
  }
}

void test('refs read as git lists them, loose, packed and both', async () => {
  await expectListed()
  gitText(directory, ['pack-refs', '--all'])
  await expectListed()
  gitText(directory, ['update-ref', 'refs/heads/main', second])
  gitText(directory, ['update-ref', 'refs/heads/new/one', first])
  gitText(directory, ['update-ref', 'refs/heads/\u{1f600}', first])
  gitText(directory, ['update-ref', 'refs/heads/\ufb01', first])
  await expectListed()
  assert.equal(await repository.ref('refs/heads/main'), second)
  for (const name of [
    'refs/heads/absent',
    'refs/heads/new',
    'main',
    'HEAD',
    'refs/heads/../main',
    'refs/heads/main\0',
  ]) {
    assert.equal(await repository.ref(name), undefined, name)
  }
})

void test('an annotated tag reads as it was written', async () => {
  const id = gitText(directory, ['rev-parse', 'refs/tags/t/50'])
  assert.deepEqual(await repository.tag(id), {
    id,
    object: gitText(directory, ['rev-parse', 'refs/tags/t/50^{}']),
    type: 'commit',
    name: 't/50',
    tagger: {
      name: 'T',
      email: 't@x',
      date: {
        seconds: Number(
          gitText(directory, ['for-each-ref', '--format=%(taggerdate:unix)', 'refs/tags/t/50']),
        ),
        offset: '+0000',
      },
    },
    message: 'tag\n',
  })
  assert.equal(await repository.tag(first), undefined)
  assert.equal(await repository.tag('0'.repeat(40)), undefined)
})

void test('a ref is made, moved and removed, wherever it is stored, and git sees each step', async () => {
  const ref = 'refs/heads/deep/er/branch'
  for (const packed of [false, true]) {
    await repository.moveRefs([{ ref, from: undefined, to: first }])
    assert.equal(gitText(directory, ['rev-parse', ref]), first)
    if (packed) gitText(directory, ['pack-refs', '--all', '--prune'])
    await repository.moveRefs([{ ref, from: first, to: second }])
    assert.equal(gitText(directory, ['rev-parse', ref]), second)
    await repository.moveRefs([{ ref, from: second, to: undefined }])
    assert.equal(await repository.ref(ref), undefined)
    assert.deepEqual(gitLines(directory, ['for-each-ref', ref]), [])
    assert.equal(existsSync(join(directory, 'refs/heads/deep')), false)
  }
  assert.equal(existsSync(join(directory, 'refs/heads')), true)
})

void test('taking a tag out of the packed refs leaves every other with its peeled line', async () => {
  gitText(directory, ['pack-refs', '--all', '--prune'])
  const [tag] = await repository.refs('refs/tags/t/')
  assert.ok(tag)
  const before = shown()
  await repository.moveRefs([{ ref: tag.name, from: tag.id, to: undefined }])
  assert.deepEqual(
    shown(),
    before.filter((line) => line !== `${tag.id} ${tag.name}`),
  )
  gitText(directory, ['fsck', '--strict'])
  await repository.moveRefs([{ ref: tag.name, from: undefined, to: tag.id }])
  assert.deepEqual(shown(), before)
})

void test('of several moves all happen or none', async () => {
  const one = { ref: 'refs/heads/all/one', from: undefined, to: first }
  const two = { ref: 'refs/heads/all/two', from: undefined, to: second }
  const gone = {
    ref: 'refs/tags/light',
    from: gitText(directory, ['rev-parse', 'refs/tags/light']),
    to: undefined,
  }
  await expectRefusal([one, two, { ref: 'refs/heads/main', from: third, to: first }], 'moved')
  await expectRefusal([gone, one, { ...two, from: first }], 'moved')
  await repository.moveRefs([one, gone, two])
  assert.equal(await repository.ref(one.ref), first)
  assert.equal(await repository.ref(two.ref), second)
  assert.equal(await repository.ref(gone.ref), undefined)
})

void test('hundreds of refs move together or not at all', async () => {
  const moves = Array.from({ length: 350 }, (_, number) => ({
    ref: `refs/heads/hundreds/${number}`,
    from: undefined,
    to: number % 2 === 0 ? first : second,
  }))
  const last = { ref: 'refs/heads/main', from: third, to: first }
  await expectRefusal([...moves, last], 'moved')
  assert.deepEqual(await repository.refs('refs/heads/hundreds/'), [])
  await repository.moveRefs(moves)
  assert.equal((await repository.refs('refs/heads/hundreds/')).length, 350)
  await repository.moveRefs(moves.map(({ ref, to }) => ({ ref, from: to, to: undefined })))
  assert.equal(existsSync(join(directory, 'refs/heads/hundreds')), false)
})

void test('a ref that is elsewhere, there already or gone stays as it is', async () => {
  const main = await repository.ref('refs/heads/main')
  await expectRefusal([{ ref: 'refs/heads/main', from: first === main ? second : first, to: third }], 'moved')
  await expectRefusal([{ ref: 'refs/heads/main', from: undefined, to: third }], 'moved')
  await expectRefusal([{ ref: 'refs/heads/absent', from: first, to: third }], 'moved')
  await expectRefusal([{ ref: 'refs/heads/absent', from: first, to: undefined }], 'moved')
})

void test('no branch stands in the way of another, loose or packed', async () => {
  await repository.moveRefs([{ ref: 'refs/heads/way', from: undefined, to: first }])
  await repository.moveRefs([{ ref: 'refs/heads/path/to', from: undefined, to: first }])
  for (const packed of [false, true]) {
    if (packed) gitText(directory, ['pack-refs', '--all', '--prune'])
    await expectRefusal([{ ref: 'refs/heads/way/below', from: undefined, to: first }], 'refused')
    await expectRefusal([{ ref: 'refs/heads/way/far/below', from: undefined, to: first }], 'refused')
    await expectRefusal([{ ref: 'refs/heads/path', from: undefined, to: first }], 'refused')
  }
  const together = ['refs/heads/x', 'refs/heads/x/y'].map((ref) => ({ ref, from: undefined, to: first }))
  await expectRefusal(together, 'refused')
  // Directories that a removed branch left are in nobody's way.
  gitText(directory, ['update-ref', 'refs/heads/empty/dir/x', first])
  gitText(directory, ['pack-refs', '--all', '--prune'])
  gitText(directory, ['update-ref', '-d', 'refs/heads/empty/dir/x'])
  await repository.moveRefs([{ ref: 'refs/heads/empty', from: undefined, to: first }])
  assert.equal(gitText(directory, ['rev-parse', 'refs/heads/empty']), first)
})

void test('branches point at commits that are there, tags at anything that is there', async () => {
  const tree = gitText(directory, ['rev-parse', 'main^{tree}'])
  const absent = '1'.repeat(40)
  await expectRefusal([{ ref: 'refs/heads/tree', from: undefined, to: tree }], 'refused')
  await expectRefusal([{ ref: 'refs/heads/absent', from: undefined, to: absent }], 'refused')
  await expectRefusal([{ ref: 'refs/tags/absent', from: undefined, to: absent }], 'refused')
  await repository.moveRefs([{ ref: 'refs/tags/tree', from: undefined, to: tree }])
  assert.deepEqual(await repository.refs('refs/tags/tree/'), [])
  const listed = (await repository.refs('refs/tags/')).find(({ name }) => name === 'refs/tags/tree')
  assert.deepEqual(listed, { name: 'refs/tags/tree', id: tree, commit: undefined })
})

void test('names and hashes that are none are refused before any file is touched', async () => {
  const names = [
    'main',
    'HEAD',
    'refs/x',
    'refs/heads/',
    'refs/heads/../x',
    'refs/heads/a.lock',
    'refs/heads/a..b',
  ]
  for (const ref of [...names, 'refs/heads/a\nb', 'refs/heads/a b', 'refs/heads/-x\0', '/refs/heads/a']) {
    await assert.rejects(repository.moveRefs([{ ref, from: undefined, to: first }]), TypeError, ref)
  }
  for (const to of ['', 'main', '0'.repeat(40), first.toUpperCase(), first.slice(1)]) {
    await assert.rejects(repository.moveRefs([{ ref: 'refs/heads/y', from: undefined, to }]), TypeError, to)
  }
  const twice = { ref: 'refs/heads/y', from: undefined, to: first }
  await assert.rejects(repository.moveRefs([twice, twice]), TypeError)
  assert.deepEqual(locks(), [])
})

void test('branch locks are fair, and other branches are not delayed', async () => {
  const order: number[] = []
  const ref = 'refs/heads/queue'
  const turns = Array.from({ length: 20 }, (_, index) =>
    repository.locked([ref], async () => {
      order.push(index)
      await sleep(index % 3)
    }),
  )
  await repository.locked(['refs/heads/elsewhere'], async () => assert.ok(order.length < 20))
  await Promise.all(turns)
  assert.deepEqual(
    order,
    Array.from({ length: 20 }, (_, index) => index),
  )
  const both = ['refs/heads/b1', 'refs/heads/b2']
  let inside = 0
  await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      repository.locked(index % 2 === 0 ? both : both.toReversed(), async () => {
        inside += 1
        assert.equal(inside, 1)
        await sleep(1)
        inside -= 1
      }),
    ),
  )
  await assert.rejects(
    repository.locked(both, () => Promise.reject(new Error('of the work'))),
    /of the work/,
  )
  assert.equal(await repository.locked(both, () => Promise.resolve('free again')), 'free again')
})

void test('of many who move a branch from the same place one wins', async () => {
  const ref = 'refs/heads/contested'
  await repository.moveRefs([{ ref, from: undefined, to: first }])
  const tries = await Promise.allSettled(
    Array.from({ length: 12 }, (_, index) =>
      repository.moveRefs([{ ref, from: first, to: index % 2 === 0 ? second : third }]),
    ),
  )
  assert.equal(tries.filter(({ status }) => status === 'fulfilled').length, 1)
  for (const outcome of tries)
    if (outcome.status === 'rejected') assert.ok(isGitError(outcome.reason, 'moved'))
  assert.deepEqual(locks(), [])
  gitText(directory, ['fsck', '--strict'])
})
