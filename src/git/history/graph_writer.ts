import { stat, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Graphs } from './graphs.ts'
import type { RunOptions } from '../processes/spawner.ts'
import type { Tips } from '../refs/tips.ts'

/** Parts of the writer; `delayMs` of quiet after a change start a write, and at latest `patienceMs` after it. */
export interface WriterTools {
  readonly run: (args: readonly string[], options: RunOptions) => Promise<Buffer>
  readonly graphs: Graphs
  readonly tips: Tips
  readonly delayMs: number
  readonly patienceMs: number
}

interface Waiting {
  clock: NodeJS.Timeout
  since: number
}

const args = ['commit-graph', 'write', '--changed-paths', '--split', '--no-progress']
const widest = 2
const timeoutMs = 600_000
const locks = ['objects/info/commit-graph.lock', 'objects/info/commit-graphs/commit-graph-chain.lock']

/**
 * Brings commit-graphs up to date after refs have moved: soon, but once for many moves; at most two at a time, and never
 * two of one repository. Nothing depends on it but speed, so failures are left to the next time.
 */
export class GraphWriter {
  readonly #tools: WriterTools
  readonly #waiting = new Map<string, Waiting>()
  readonly #running = new Map<string, Promise<void>>()
  #closed = false

  constructor(tools: WriterTools) {
    this.#tools = tools
  }

  /** Says that refs of a repository have moved. */
  touched(gitDirectory: string): void {
    if (this.#closed) return
    const { delayMs, patienceMs } = this.#tools
    const before = this.#waiting.get(gitDirectory)
    clearTimeout(before?.clock)
    const now = performance.now()
    const since = before?.since ?? now
    const clock = setTimeout(
      () => this.#start(gitDirectory),
      Math.max(0, Math.min(delayMs, since + patienceMs - now)),
    )
    clock.unref()
    this.#waiting.set(gitDirectory, { clock, since })
  }

  /** Starts nothing more for a repository. */
  forget(gitDirectory: string): void {
    clearTimeout(this.#waiting.get(gitDirectory)?.clock)
    this.#waiting.delete(gitDirectory)
  }

  /** Starts nothing more, and waits for what runs. */
  async close(): Promise<void> {
    this.#closed = true
    for (const gitDirectory of this.#waiting.keys()) this.forget(gitDirectory)
    await Promise.all(this.#running.values())
  }

  #start(gitDirectory: string): void {
    this.forget(gitDirectory)
    if (this.#running.has(gitDirectory) || this.#running.size >= widest) return this.touched(gitDirectory)
    const write = this.#write(gitDirectory)
      .catch(() => removeOldLocks(gitDirectory))
      .finally(() => this.#running.delete(gitDirectory))
    this.#running.set(gitDirectory, write)
  }

  async #write(gitDirectory: string): Promise<void> {
    const { run, graphs, tips } = this.#tools
    const { tips: all } = await tips.list(gitDirectory)
    const commits = [...new Set(all.map(({ commit }) => commit))]
    const missing = await graphs.unfiled(gitDirectory, commits)
    if (missing?.length === 0) return
    const input = missing === undefined ? '' : `${missing.join('\n')}\n`
    await run([...args, missing === undefined ? '--reachable' : '--stdin-commits'], {
      gitDirectory,
      input,
      timeoutMs,
    })
    graphs.touched(gitDirectory)
  }
}

/** A lock file of a killed git would fail every later write; no write lives as long as twice its time. */
async function removeOldLocks(gitDirectory: string): Promise<void> {
  for (const lock of locks.map((name) => join(gitDirectory, name))) {
    const found = await stat(lock).catch(() => undefined)
    if (found !== undefined && Date.now() - found.mtimeMs > 2 * timeoutMs)
      await unlink(lock).catch(() => undefined)
  }
}
