import assert from 'node:assert/strict'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import {
  gitBytes,
  gitLines,
  gitText,
  openTestGit,
  scratch,
  writeHistory,
  writeProgram,
} from '../../test/support/git_fixtures.ts'
import { borrowCommit } from './borrowing.ts'
import { maintain } from './care/maintenance.ts'
import { createEmpty } from './create.ts'
import { importRepository } from './import.ts'
import { Quarantine } from './wire/quarantine.ts'

// Git asks for the memory of an object by the size that a header names: every process that takes apart what others sent
// has a limit.

const root = scratch()
const store = join(root, 'store')
const log = join(root, 'log')
mkdirSync(store)
const real = gitText(root, ['--exec-path'])
// Records each command with the kibibytes of memory that it may have.
const binary = writeProgram(root, 'recording-git', `echo "$(ulimit -d) $*" >> ${log}; exec ${real}/git "$@"`)
const git = openTestGit(store, { gitBinary: binary })
const source = join(root, 'source.git')
writeHistory(source, 120, 3)
const tip = gitText(source, ['rev-parse', 'main'])

/** The limit, in kibibytes, of the one command that was run with `name`. */
function limitOf(name: string): number {
  const line = readFileSync(log, 'utf8')
    .split('\n')
    .filter((each) => each.includes(` ${name} `))
    .at(-1)
  assert.ok(line, `no ${name} was run`)
  return Number(line.split(' ', 1)[0])
}
const GIB = 1024 * 1024

void test('an import, a copied commit and a repack have a limit of memory', async () => {
  await importRepository(git, source, 'a/one.git')
  assert.ok(limitOf('--no-recurse-submodules') <= 2 * GIB)
  await createEmpty(git, 'a/two.git', 'main')
  await borrowCommit(git, tip, { from: 'a/one.git', to: 'a/two.git' })
  assert.ok(limitOf('--no-write-fetch-head') <= 2 * GIB)
  assert.equal(gitText(git.directory('a/two.git'), ['cat-file', '-t', tip]), 'commit')
  await maintain(git, 'a/one.git', { expire: true })
  assert.ok(limitOf('repack') <= 2 * GIB)
})

void test('a push of few objects and one of many have a limit of memory', async () => {
  await createEmpty(git, 'a/pushed.git', 'main')
  const directory = git.directory('a/pushed.git')
  const [first = ''] = gitLines(source, ['rev-list', '--max-parents=0', 'main'])
  for (const [name, sha] of [
    ['unpack-objects', first],
    ['index-pack', tip],
  ] as const) {
    const listed = gitLines(source, ['rev-list', '--objects', sha])
    const names = listed.map((line) => line.slice(0, 40))
    const pack = gitBytes(source, ['pack-objects', '--stdout', '-q'], `${names.join('\n')}\n`)
    const quarantine = new Quarantine(git.spawner, directory)
    await quarantine.unpack(Readable.from([pack]), names.length, pack.length)
    assert.ok(limitOf(name) < GIB, name)
    await quarantine.release()
  }
})
