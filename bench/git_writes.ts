import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Change } from '../src/git/objects/changes.ts'
import type { Signature } from '../src/git/objects/commit.ts'
import { openGit } from '../src/git/git.ts'
import type { Repository } from '../src/git/repository.ts'
import type { GitLine } from './git.ts'
import type { Order, Step } from './git_steps.ts'
import { repositoryFor } from './history.ts'
import { median } from './report.ts'

// Writes beside the git command line. Both sides make the same commits in repositories of the same history, in turns, and
// both wait for the disk.

const BLOCKS = 5
const BLOCK = 25
const WARM = 5
const DURABLE = ['-c', 'core.fsync=committed,reference']
const REF = 'refs/heads/main'
const who: Signature = {
  name: 'Ada',
  email: 'ada@bench.example',
  date: { seconds: 1_700_000_000, offset: '+0000' },
}
const person = 'Ada <ada@bench.example> 1700000000 +0000'

type Ask = (order: Order) => Promise<{ took: number; outputs: string[] }>

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

function changes(count: number, round: number): Change[] {
  return Array.from({ length: count }, (_, number) => ({
    action: 'create',
    path: `made-${count}/${number % 7}/${round}-${number}.txt`,
    content: Buffer.from(`line of ${round} and ${number}\n`.repeat(20)),
  }))
}

function commit(repository: Repository, count: number, round: number): Promise<void> {
  return repository.locked([REF], async () => {
    const from = await repository.ref(REF)
    const texts = {
      parents: from === undefined ? [] : [from],
      author: who,
      committer: who,
      message: `made ${round}`,
    }
    const { commit: to } = await repository.writeChanges(from, changes(count, round), texts)
    await repository.moveRefs([{ ref: REF, from, to }])
  })
}

function stream(count: number, round: number, from: string): string {
  const part = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`
  const files = changes(count, round).map((change) =>
    'content' in change && change.content !== undefined
      ? `M 100644 inline ${change.path}\n${part(change.content.toString())}`
      : '',
  )
  return `commit ${REF}\ncommitter ${person}\n${part(`made ${round}`)}from ${from}\n${files.join('')}\n`
}

async function fastImport(ask: Ask, path: string, count: number, round: number): Promise<number> {
  const found = await ask({ path, steps: [{ args: ['rev-parse', '--verify', REF] }] })
  const input = stream(count, round, found.outputs[0] ?? '')
  const done = await ask({ path, steps: [{ args: [...DURABLE, 'fast-import', '--quiet'], input }] })
  return found.took + done.took
}

/** Three commits with one parent in common, made by hand, and their merge. */
async function pickByHand(
  ask: Ask,
  path: string,
  [base = '', ours = '', theirs = '']: readonly string[],
): Promise<number> {
  const make = (tree: string, parent?: string): Step => ({
    args: ['commit-tree', '-m', 'x', ...(parent === undefined ? [] : ['-p', parent]), tree],
  })
  const first = await ask({ path, steps: [make(base)] })
  const parent = first.outputs[0]
  const sides = await ask({ path, steps: [make(ours, parent), make(theirs, parent)] })
  const merge = await ask({ path, steps: [{ args: ['merge-tree', '--write-tree', ...sides.outputs] }] })
  return first.took + sides.took + merge.took
}

function line(
  name: string,
  [ours, theirs]: readonly [readonly number[], readonly number[]],
  wanted: number,
): GitLine {
  return { history: 'writes', name, ours: median(ours), git: median(theirs), wanted }
}

/** Measures commits and cherry-picks. */
export async function benchGitWrites(note: (text: string) => void): Promise<GitLine[]> {
  note('git: writes …')
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-bench-writes-'))
  const child = fork(fileURLToPath(new URL('git_steps.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  })
  const ask: Ask = async (order) => {
    child.send(order)
    const [reply] = (await once(child, 'message')) as [{ took: number; outputs: string[] }]
    return reply
  }
  const source = repositoryFor(folder)
  const copy = (name: string): string => {
    const path = join(folder, name)
    spawnSync('git', ['clone', '--quiet', '--bare', '--no-local', source, path])
    spawnSync('git', ['-C', path, 'update-ref', REF, 'HEAD'])
    return path
  }
  const [, theirs] = [copy('ours.git'), copy('theirs.git')]
  const git = openGit({ root: folder })
  const repository = git.repository('ours.git')
  const lines: GitLine[] = []
  try {
    for (const [count, wanted] of [
      [1, 5],
      [50, 3],
    ] as const) {
      const times = await inBlocks(
        (round) => timed(() => commit(repository, count, round)),
        (round) => fastImport(ask, theirs, count, round),
      )
      lines.push(line(`commit of ${count} action${count === 1 ? '' : 's'}`, times, wanted))
    }
    lines.push(await benchPicks(repository, (shas) => pickByHand(ask, theirs, shas)))
    return lines
  } finally {
    child.kill()
    await git.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A block of ours, a block of theirs, and so on: what one leaves for the disk to do is not laid on the other. */
async function inBlocks(
  ours: (round: number) => Promise<number>,
  theirs: (round: number) => Promise<number>,
): Promise<[number[], number[]]> {
  const times: [number[], number[]] = [[], []]
  for (let block = 0; block < BLOCKS; block += 1) {
    for (const [side, work] of [ours, theirs].entries()) {
      for (let number = 0; number < BLOCK; number += 1) {
        const took = await work(block * BLOCK + number)
        if (block > 0 && number >= WARM) times[side === 0 ? 0 : 1].push(took)
      }
    }
  }
  return times
}

async function benchPicks(
  repository: Repository,
  byHand: (trees: readonly string[]) => Promise<number>,
): Promise<GitLine> {
  const history = await repository.log({ all: true, skip: 200, limit: 400, firstParent: true })
  const question = (round: number): { commit: string; onto: string } => ({
    commit: history[100 + round] ?? '',
    onto: history[round] ?? '',
  })
  const times = await inBlocks(
    (round) => timed(() => repository.pick({ ...question(round), dryRun: true })),
    async (round) => {
      const { commit: picked, onto } = question(round)
      const [theirs, ours] = await Promise.all([repository.commit(picked), repository.commit(onto)])
      const parent = await repository.commit(theirs?.parents[0] ?? '')
      return byHand([parent?.tree ?? '', ours?.tree ?? '', theirs?.tree ?? ''])
    },
  )
  return line('cherry-pick, dry run', times, 5)
}
