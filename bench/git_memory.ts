import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEmpty } from '../src/git/create.ts'
import type { Signature } from '../src/git/objects/commit.ts'
import { openGit } from '../src/git/git.ts'
import { maintain } from '../src/git/care/maintenance.ts'
import type { Repository } from '../src/git/repository.ts'

// Memory over many mixed operations on many repositories, as a curve. By hand:
// `node --expose-gc --import tsx bench/git_memory.ts [OPERATIONS] [REPOSITORIES]`

const [operations = 50_000, repositories = 200] = process.argv.slice(2).map(Number)
const STEPS = 20
const WIDTH = 8
const who: Signature = {
  name: 'M',
  email: 'm@bench.example',
  date: { seconds: 1_700_000_000, offset: '+0000' },
}
const MAIN = 'refs/heads/main'

let state = 1
function roll(bound: number): number {
  state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
  return state % bound
}

async function change(repository: Repository, number: number): Promise<void> {
  await repository.locked([MAIN], async () => {
    const from = await repository.ref(MAIN)
    const changes = Array.from(
      { length: number % 10 === 0 ? 12 : 1 },
      (_, file) =>
        ({
          action: 'create',
          path: `d${roll(20)}/${number}-${file}`,
          content: Buffer.from(`${number}\n`),
        }) as const,
    )
    const texts = {
      parents: from === undefined ? [] : [from],
      author: who,
      committer: who,
      message: `${number}`,
    }
    const { commit } = await repository.writeChanges(from, changes, texts)
    await repository.moveRefs([{ ref: MAIN, from, to: commit }])
  })
}

async function operate(repository: Repository, number: number): Promise<void> {
  const tip = await repository.ref(MAIN)
  const kind = roll(10)
  if (tip === undefined || kind < 4) return change(repository, number)
  if (kind < 6) await repository.log({ from: [tip], skip: roll(5), limit: 20 })
  else if (kind === 6) await repository.entries(tip, { path: '', recursive: true, skip: 0, limit: 100 })
  else if (kind === 7) await repository.stats([tip])
  else if (kind === 8) await repository.refs('refs/heads/')
  else {
    const [, , older = tip] = await repository.log({ from: [tip], skip: 0, limit: 3 })
    await repository.revert({ commit: older, onto: tip, dryRun: roll(2) === 0 })
  }
}

/** Memory in MB of this process and of the git processes and the spawner that it started. */
function memory(): { own: number; heap: number; children: number; processes: number } {
  globalThis.gc?.()
  const { rss, heapUsed } = process.memoryUsage()
  const pids = descendants(process.pid)
  const children = pids.map(residentOf).reduce((sum, bytes) => sum + bytes, 0)
  return {
    own: rss / 2 ** 20,
    heap: heapUsed / 2 ** 20,
    children: children / 2 ** 20,
    processes: pids.length,
  }
}

function descendants(root: number): number[] {
  const parents = new Map<number, number>()
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const text = read(`/proc/${name}/stat`)
    parents.set(Number(name), Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[1]))
  }
  const isBelow = (pid: number): boolean => {
    const parent = parents.get(pid)
    return parent !== undefined && (parent === root || isBelow(parent))
  }
  return [...parents.keys()].filter(isBelow)
}

/** Memory that is the process's own: what it shares with others is counted nowhere. */
function residentOf(pid: number): number {
  const text = read(`/proc/${pid}/smaps_rollup`)
  const kilobytes = [...text.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm)].map(([, kb]) => Number(kb))
  return 1_024 * kilobytes.reduce((sum, kb) => sum + kb, 0)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

const root = mkdtempSync(join(tmpdir(), 'guildhall-bench-memory-'))
const git = openGit({ root })
const paths = Array.from({ length: repositories }, (_, number) => `r/${number}.git`)
for (const path of paths) await createEmpty(git, path, 'main')
let done = 0
let failed = 0
const began = performance.now()
try {
  for (let step = 0; step <= STEPS; step += 1) {
    const target = Math.floor((operations * step) / STEPS)
    const run = async (): Promise<void> => {
      while (done < target) {
        done += 1
        const path = paths[roll(paths.length)] ?? ''
        await operate(git.repository(path), done).catch(() => (failed += 1))
        if (git.isDue(path)) await maintain(git, path).catch(() => (failed += 1))
      }
    }
    await Promise.all(Array.from({ length: WIDTH }, run))
    const { own, heap, children, processes } = memory()
    const cells = [
      `${done} operations`.padEnd(18),
      `server ${own.toFixed(0)} MB`,
      `heap ${heap.toFixed(0)} MB`,
    ]
    const bar = '#'.repeat(Math.round(own / 10))
    console.log([...cells, `${processes} children ${children.toFixed(0)} MB`, bar].join('  '))
  }
  const perSecond = (operations / (performance.now() - began)) * 1_000
  console.log(`${perSecond.toFixed(0)} operations a second, ${failed} failed`)
} finally {
  await git.close()
  rmSync(root, { recursive: true, force: true })
}
