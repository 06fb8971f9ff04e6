import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gitLines, gitText, openTestGit, scratch, writeHistory } from '../../../test/support/git_fixtures.ts'
import { isGitError } from '../errors.ts'

const root = scratch()
const git = openTestGit(root)
const directory = join(root, '0a/10.git')
writeHistory(directory, 60, 3)
const repository = git.repository('0a/10.git')
const [first = '', second = ''] = gitLines(directory, ['rev-list', '--max-count=2', 'main'])

/** A git that holds the lock of `ref`, until it is told to commit or is killed. */
async function holder(ref: string): Promise<ReturnType<typeof spawn>> {
  const child = spawn('git', [`--git-dir=${directory}`, 'update-ref', '--stdin'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  after(() => child.kill('SIGKILL'))
  child.stdin?.write(`start\nupdate ${ref} ${second}\nprepare\n`)
  let heard = ''
  while (!heard.includes('prepare: ok')) heard += String((await once(child.stdout, 'data'))[0])
  return child
}

function age(path: string, hours: number): void {
  const then = Date.now() / 1_000 - hours * 3_600
  utimesSync(path, then, then)
}

function plant(path: string, hours: number): string {
  const file = join(directory, path)
  mkdirSync(join(file, '..'), { recursive: true })
  writeFileSync(file, '')
  age(file, hours)
  return file
}

void test('a lock that a living git holds stays, however old, and ends with it', async () => {
  const ref = 'refs/heads/held'
  await repository.moveRefs([{ ref, from: undefined, to: first }])
  const child = await holder(ref)
  const lock = join(directory, `${ref}.lock`)
  age(lock, 10)
  await assert.rejects(repository.moveRefs([{ ref, from: first, to: second }]), (error) =>
    isGitError(error, 'busy'),
  )
  assert.equal((await git.sweep()).locks, 0)
  assert.equal(existsSync(lock), true)
  const waiting = repository.moveRefs([{ ref, from: second, to: first }])
  child.stdin?.end('commit\n')
  await once(child, 'exit')
  await waiting
  assert.equal(await repository.ref(ref), first)
})

void test('a lock whose git was killed holds nobody up', async () => {
  const ref = 'refs/heads/frozen'
  await repository.moveRefs([{ ref, from: undefined, to: first }])
  const child = await holder(ref)
  child.kill('SIGKILL')
  await once(child, 'exit')
  assert.equal(existsSync(join(directory, `${ref}.lock`)), true)
  await repository.moveRefs([{ ref, from: first, to: second }])
  assert.equal(gitText(directory, ['rev-parse', ref]), second)
  plant('packed-refs.lock', 1)
  gitText(directory, ['update-ref', 'refs/heads/packed', first])
  assert.equal((await git.sweep()).locks, 1)
  gitText(directory, ['pack-refs', '--all'])
  plant('packed-refs.lock', 1)
  await repository.moveRefs([{ ref: 'refs/heads/packed', from: first, to: undefined }])
  assert.deepEqual(gitLines(directory, ['for-each-ref', 'refs/heads/packed']), [])
})

void test('only what is old goes, and nothing that is not a leftover', async () => {
  const old = [
    'objects/aa/tmp_obj_x',
    'objects/pack/tmp_pack_x',
    'objects/pack/.tmp-1-pack-x',
    'objects/tmp_objdir-incoming-x/x',
  ]
  old.push(
    'objects/info/commit-graphs/tmp_graph_x',
    'HEAD.lock',
    'refs/heads/a/b.lock',
    'objects/info/commit-graph.lock',
    'tmp_head_x',
  )
  const gone = old.map((path) => plant(path, 30))
  age(join(directory, 'objects/tmp_objdir-incoming-x'), 30)
  const kept = [
    ...['objects/aa/tmp_obj_y', 'objects/pack/tmp_pack_y'].map((path) => plant(path, 0.5)),
    ...['HEAD.locked', 'objects/pack/pack-x.keep', 'objects/aa/x', 'description', 'info/tmp_notes'].map(
      (path) => plant(path, 500),
    ),
    plant('refs/tags/new.lock', -1),
  ]
  const refs = gitLines(directory, ['for-each-ref'])
  const swept = await git.sweep()
  assert.deepEqual(swept, { locks: 3, temporary: 6, repositories: 0, rooms: 0 })
  assert.deepEqual(gone.filter(existsSync), [])
  assert.deepEqual(
    kept.filter((file) => !existsSync(file)),
    [],
  )
  assert.deepEqual(gitLines(directory, ['for-each-ref']), refs)
})

void test('repositories that were never finished and folders of dead servers go', async () => {
  const [abandoned, growing] = ['.new-1', '.new-2'].map((name) => join(root, '0a', name))
  for (const place of [abandoned ?? '', growing ?? '']) {
    mkdirSync(join(place, 'objects/pack'), { recursive: true })
    for (const part of ['objects/pack', 'objects', '.']) age(join(place, part), 30)
  }
  writeFileSync(join(growing ?? '', 'objects/pack/tmp_pack_1'), '')
  const rooms = join(root, '.rooms')
  const [own = ''] = readdirSync(rooms)
  const parts = own.split('.')
  // The process of the first is this one, started at another time; that of the second is none; the third is elsewhere.
  const dead = [`${parts[0]}.${process.pid}.1.aa`, `${parts[0]}.999999999.1.aa`]
  const elsewhere = `elsewhere.1.1.aa`
  for (const name of [...dead, elsewhere]) mkdirSync(join(rooms, name, 'merges-1'), { recursive: true })
  const swept = await git.sweep()
  assert.deepEqual([swept.repositories, swept.rooms], [1, 2])
  assert.deepEqual(readdirSync(join(root, '0a')).toSorted(), ['.new-2', '10.git'])
  assert.deepEqual(readdirSync(rooms).toSorted(), [own, elsewhere].toSorted())
  age(join(rooms, elsewhere), 30)
  assert.equal((await git.sweep()).rooms, 1)
})

void test('beside another server a lock must be older before it counts as dead', async () => {
  const other = openTestGit(root)
  await other.repository('0a/10.git').moveRefs([{ ref: 'refs/heads/other', from: undefined, to: first }])
  const lock = plant('refs/heads/other.lock', 10 / 3_600)
  assert.equal((await git.sweep()).locks, 0)
  assert.equal(existsSync(lock), true)
  age(lock, 1)
  assert.equal((await git.sweep()).locks, 1)
  assert.equal(existsSync(lock), false)
})
