/* A server that writes into a repository is killed again and again, with all it started. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { isGitError } from '../../src/git/errors.ts'
import { dice, gitLines, gitText, openTestGit, scratch, writeHistory } from '../support/git_fixtures.ts'
import { killsOf } from '../support/program.ts'

const KILLS = killsOf(4)
const branches = ['one', 'two', 'three'].map((name) => `refs/heads/${name}`)
const root = scratch()
const directory = join(root, '0a/10.git')
writeHistory(directory, 60, 13)
for (const ref of branches) gitText(directory, ['update-ref', ref, 'main'])
const program = fileURLToPath(new URL('../support/git_writer.ts', import.meta.url))
const roll = dice(41)

/** Starts the writing program, kills its group after a while, and returns what it acknowledged. */
async function writeUntilKilled(seed: number): Promise<string[]> {
  const args = ['--import', 'tsx', program, root, '0a/10.git', String(seed)]
  const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const closed = once(child.stdout, 'close')
  await once(child.stdout, 'data')
  await sleep(100 + roll(500))
  assert.ok(child.pid !== undefined)
  process.kill(-child.pid, 'SIGKILL')
  await closed
  return text.split('\n').slice(0, -1)
}

test('nothing acknowledged is lost when the server is killed, and no branch stays locked', async () => {
  const acknowledged = new Set<string>()
  let picked = 0
  for (let kill = 1; kill <= KILLS; kill += 1) {
    const lines = await writeUntilKilled(kill)
    assert.ok(lines.length > 0)
    const passing = new Map<string, string>()
    for (const line of lines) {
      const [ref = '', id = ''] = line.split(' ')
      if (ref.includes('/passing/')) passing.set(ref, id)
      else acknowledged.add(id)
    }
    picked += lines.length
    const reached = new Set(gitLines(directory, ['rev-list', ...branches]))
    assert.deepEqual(
      [...acknowledged].filter((id) => !reached.has(id)),
      [],
    )
    await expectUsable(passing)
    if (kill % 5 === 1) gitText(directory, ['fsck', '--strict', '--full'])
  }
  assert.ok(picked > KILLS)
  const git = openTestGit(root)
  await git.sweep()
  const left = readdirSync(directory, { recursive: true }).map(String)
  assert.deepEqual(
    left.filter((name) => name.endsWith('.lock')),
    [],
  )
})

/** A server started anew moves every branch, and what was last said of a branch that comes and goes is so, or newer. */
async function expectUsable(passing: ReadonlyMap<string, string>): Promise<void> {
  const git = openTestGit(root)
  const repository = git.repository('0a/10.git')
  for (const ref of [...branches, ...passing.keys()]) {
    const from = await repository.ref(ref)
    const to = gitText(directory, ['rev-parse', 'refs/heads/main'])
    await repository.locked([ref], async () => {
      await repository.moveRefs([{ ref, from, to }])
      await repository.moveRefs([{ ref, from: to, to: from }])
    })
    assert.equal(await repository.ref(ref), from)
  }
  const elsewhere = { ref: branches[0] ?? '', from: '1'.repeat(40), to: '1'.repeat(40) }
  await assert.rejects(repository.moveRefs([elsewhere]), (error) => isGitError(error))
  await git.close()
}
