/* A program that writes into a repository until it is killed: `git_writer.ts ROOT PATH SEED`. Each line that it prints
 * acknowledges where a branch is: its full name and the hash, `-` for a branch that is gone. */
import { writeSync } from 'node:fs'
import type { Signature } from '../../src/git/objects/commit.ts'
import type { Change } from '../../src/git/objects/changes.ts'
import { openGit } from '../../src/git/git.ts'
import { dice } from './git_fixtures.ts'

const [root = '', path = '', seed = '0'] = process.argv.slice(2)
const repository = openGit({ root, path: '/usr/local/bin:/usr/bin:/bin' }).repository(path)
const roll = dice(Number(seed))
const who: Signature = { name: 'W', email: 'w@x', date: { seconds: 1_700_000_000, offset: '+0000' } }
const branches = ['refs/heads/one', 'refs/heads/two', 'refs/heads/three']

function changes(count: number, run: string): Change[] {
  return Array.from({ length: count }, (_, number) => ({
    action: 'create',
    path: `${run}/${roll(9)}/${number}`,
    content: Buffer.from(`${run} ${number}\n`.repeat(1 + roll(50))),
  }))
}

async function next(from: string, run: string): Promise<string | undefined> {
  const texts = { parents: [from], author: who, committer: who, message: run }
  const kind = roll(4)
  if (kind < 2) {
    const written = await repository.writeChanges(from, changes(kind === 0 ? 1 : 20, run), texts)
    return written.commit
  }
  const other = (await repository.ref(branches[roll(branches.length)] ?? '')) ?? from
  const question = { commit: other, onto: from, dryRun: roll(3) === 0 }
  const result = await (kind === 2 ? repository.pick(question) : repository.revert(question))
  if ('fault' in result || question.dryRun) return undefined
  return repository.writeCommit({ ...texts, tree: result.tree })
}

async function write(ref: string, writer: number): Promise<never> {
  for (let number = 0; ; number += 1) {
    const run = `${seed}-${writer}-${number}`
    await repository.locked([ref], async () => {
      const from = await repository.ref(ref)
      if (from === undefined) throw new Error(`${ref} is missing`)
      const to = await next(from, run)
      if (to === undefined) return
      await repository.moveRefs([{ ref, from, to }])
      writeSync(1, `${ref} ${to}\n`)
    })
    const passing = `refs/heads/passing/${writer}/x`
    const start = await repository.ref(ref)
    await repository.locked([passing], async () => {
      const from = await repository.ref(passing)
      const to = from === undefined ? start : undefined
      await repository.moveRefs([{ ref: passing, from, to }])
      writeSync(1, `${passing} ${to ?? '-'}\n`)
    })
  }
}

await Promise.all([0, 1, 2, 3, 4, 5].map((writer) => write(branches[writer % 3] ?? '', writer)))
