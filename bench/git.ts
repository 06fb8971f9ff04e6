import { fork } from 'node:child_process'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openGit } from '../src/git/git.ts'
import type { Repository } from '../src/git/repository.ts'
import type { Command } from './git_command.ts'
import { histories, place, type History } from './git_histories.ts'
import { median } from './report.ts'

/** One operation on one history: ours beside the git command line, in milliseconds. */
export interface GitLine {
  readonly history: string
  readonly name: string
  readonly ours: number
  readonly git: number | undefined
  /** The same of a process beside that does nothing. */
  readonly floor?: number | undefined
  /** The ratio that is wanted at least, or the milliseconds or factor at most where there is no git beside. */
  readonly wanted: number
}

interface Task {
  readonly name: string
  readonly wanted: number
  readonly ours: () => Promise<unknown>
  /** The same question for git. */
  readonly git: () => readonly string[]
}

const PAGE = 20
const ROUNDS = 300
const GIT_ROUNDS = 12
const LOAD_MS = 3_000
const LOAD_WIDTH = 16
const CONTAINING = ['for-each-ref', '--format=%(refname)']
const SHOWN = '--format=%H%x00%T%x00%P%x00%an%x00%ae%x00%ad%x00%cn%x00%ce%x00%cd%x00%B'

/** Measures the git room on each history. */
export async function benchGit(only: string, note: (text: string) => void): Promise<GitLine[]> {
  const child = fork(fileURLToPath(new URL('git_command.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx'],
  })
  const command = async (order: Command): Promise<number[]> => {
    child.send(order)
    const [times] = (await once(child, 'message')) as [number[]]
    return times
  }
  try {
    const lines: GitLine[] = []
    for (const history of await histories(only, note)) {
      note(`git: ${history.name} …`)
      lines.push(...(await measure(history, command)))
    }
    return lines
  } finally {
    child.kill()
  }
}

async function measure(
  { name, path }: History,
  command: (order: Command) => Promise<number[]>,
): Promise<GitLine[]> {
  const { root, name: file } = place(path)
  const git = openGit({ root })
  const repository = git.repository(file)
  const delay = monitorEventLoopDelay({ resolution: 1 })
  try {
    const subject = await learn(repository, (args) => git.spawner.run(args, { gitDirectory: path }))
    const list = tasks(repository, subject)
    const lines: GitLine[] = []
    for (const task of list) {
      await task.ours()
      const ours = await timed(task.ours)
      const commands = Array.from({ length: GIT_ROUNDS }, () => task.git())
      const times = await command({ path, commands })
      lines.push({ history: name, name: task.name, ours, git: median(times), wanted: task.wanted })
    }
    const [first, last] = [await pageCost(repository, subject, 0), await pageCost(repository, subject, 1_000)]
    lines.push({
      history: name,
      name: 'page 1,000 over page 1',
      ours: last / first,
      git: undefined,
      wanted: 3,
    })
    const idle = command({ path, commands: [], idleMs: LOAD_MS })
    delay.enable()
    await load(list.map(({ ours }) => ours))
    delay.disable()
    const [floor] = await idle
    lines.push({
      history: name,
      name: 'event loop delay, p99.9 ms',
      ours: delay.percentile(99.9) / 1e6,
      git: undefined,
      floor,
      wanted: 20,
    })
    return lines
  } finally {
    await git.close()
  }
}

interface Subject {
  readonly tip: string
  readonly shas: readonly string[]
  readonly files: readonly string[]
}

async function learn(
  repository: Repository,
  run: (args: readonly string[]) => Promise<Buffer>,
): Promise<Subject> {
  const tip = (await repository.resolve('HEAD')) ?? ''
  const linesOf = async (args: readonly string[]): Promise<string[]> =>
    (await run(args))
      .toString()
      .split('\n')
      .filter((line) => line !== '')
  const shas = await linesOf(['rev-list', '--first-parent', tip])
  const files = await linesOf(['-c', 'core.quotePath=false', 'ls-tree', '-r', '--name-only', tip])
  return { tip, shas, files: files.filter((file) => /^[ -~]+$/.test(file)) }
}

type Pick = (items: readonly string[]) => string

function picker(): Pick {
  let state = 12_345
  return (items) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return items[state % items.length] ?? ''
  }
}

function tasks(repository: Repository, subject: Subject): Task[] {
  const one = picker()
  return [
    {
      name: 'one commit',
      wanted: 10,
      ours: () => repository.commit(one(subject.shas)),
      git: () => ['log', '-1', SHOWN, one(subject.shas)],
    },
    ...lists(repository, subject, one),
    {
      name: 'sequence',
      wanted: 20,
      ours: () => repository.count(one(subject.shas)),
      git: () => ['rev-list', '--count', one(subject.shas)],
    },
    {
      name: 'refs containing',
      wanted: 20,
      ours: () => repository.refsContaining(one(subject.shas), ['branch', 'tag']),
      git: () => [...CONTAINING, `--contains=${one(subject.shas)}`, 'refs/heads', 'refs/tags'],
    },
  ]
}

function lists(repository: Repository, { tip, shas, files }: Subject, one: Pick): Task[] {
  // A different recent commit each time stands for histories that nobody has asked for yet.
  const recent = shas.slice(0, 2_000)
  const list = (
    name: string,
    wanted: number,
    ask: () => { from: string; page: number; path?: string },
  ): Task => ({
    name,
    wanted,
    ours: async () => {
      const { from, page, ...rest } = ask()
      const found = await repository.log({ from: [from], skip: (page - 1) * PAGE, limit: PAGE, ...rest })
      return Promise.all(found.map((sha) => repository.commit(sha)))
    },
    git: () => {
      const { from, page, path } = ask()
      const rest = path === undefined ? [] : ['--', path]
      return ['log', `-${PAGE}`, `--skip=${(page - 1) * PAGE}`, SHOWN, from, ...rest]
    },
  })
  return [
    list('list, page 1', 8, () => ({ from: tip, page: 1 })),
    list('list, page 1, new tip', 8, () => ({ from: one(recent), page: 1 })),
    list('list, page 100', 5, () => ({ from: tip, page: 100 })),
    list('list, page 100, new tip', 5, () => ({ from: one(recent), page: 100 })),
    list('list of a path, new tip', 5, () => ({ from: one(recent), page: 1, path: one(files) })),
  ]
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  const end = performance.now() + LOAD_MS
  while (times.length < ROUNDS && performance.now() < end) {
    const began = performance.now()
    await work()
    times.push(performance.now() - began)
  }
  return median(times)
}

/** Milliseconds for one page of a list that has been asked for before, the commits on it being known. */
async function pageCost(repository: Repository, { tip, shas }: Subject, page: number): Promise<number> {
  const skip = Math.min(page * PAGE, Math.max(0, shas.length - PAGE))
  const read = async (): Promise<unknown> => {
    const list = await repository.log({ from: [tip], skip, limit: PAGE })
    return Promise.all(list.map((sha) => repository.commit(sha)))
  }
  await read()
  return timed(read)
}

async function load(works: readonly (() => Promise<unknown>)[]): Promise<void> {
  const end = performance.now() + LOAD_MS
  const worker = async (start: number): Promise<void> => {
    for (let next = start; performance.now() < end; next += 1) {
      await works[next % works.length]?.()
      // Requests come in through the event loop; answers from memory alone would never let it go round.
      await setImmediate()
    }
  }
  await Promise.all(Array.from({ length: LOAD_WIDTH }, (_, index) => worker(index)))
}
