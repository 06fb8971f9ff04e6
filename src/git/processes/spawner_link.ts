import { fork, type ChildProcess } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { GitError } from '../errors.ts'
import { isChildReport, killGroup } from './spawner_protocol.ts'
import type { ChildReport, Ending, KillOrder, LaunchOrder } from './spawner_protocol.ts'
import { builtModule } from '../../package_root.ts'

/** One git process. Its stdout, and its stdin when it was asked for, are `socket`; back-pressure is the socket's own. */
export interface GitProcess {
  readonly pid: number
  readonly socket: Socket
  /** Settles when git has ended. Rejects with GitError `gone` when the spawner died, with git killed. */
  readonly ended: Promise<Ending>
  /** Ends git and all it started: SIGTERM, and SIGKILL a second later. */
  kill(): void
}

/** The request for one process; `binary`, `id` and environment are added by the room. */
export interface Launch extends Omit<LaunchOrder, 'id' | 'progress'> {
  onProgress?: (line: string) => void
}

interface Job {
  pid: number | undefined
  socket: Socket
  started: (pid: number) => void
  ended: (ending: Ending) => void
  failed: (error: GitError) => void
  onProgress: ((line: string) => void) | undefined
}

const readyWaitMs = 20_000
const startWaitMs = 15_000
const closeWaitMs = 3_000
const closing = 'The git spawner was closed'

/** The main process's end of the spawner child: forks it on first use and again after its death. */
export class SpawnerLink {
  readonly #path: string
  readonly #onDeath: (detail: string) => void
  readonly #jobs = new Map<number, Job>()
  #child: ChildProcess | undefined
  #address: Promise<string> | undefined
  #lastId = 0
  #closed = false

  constructor(path: string, onDeath: (detail: string) => void) {
    this.#path = path
    this.#onDeath = onDeath
  }

  /** The process id of the spawner child, while one runs. */
  get pid(): number | undefined {
    return this.#child?.pid
  }

  /** Starts one process. Throws GitError `spawn` when it cannot run, `gone` when the spawner died, `closed` after close(). */
  async launch(launch: Launch): Promise<GitProcess> {
    if (this.#closed) throw new GitError('closed', closing)
    this.#address ??= this.#fork()
    const address = await this.#address
    const { onProgress, ...rest } = launch
    const id = ++this.#lastId
    const socket = connect({ path: address, allowHalfOpen: true })
    socket.on('error', (error) => {
      socket.destroy()
      // Whether any other error on the connection matters is told by how git ended.
      if ('syscall' in error && error.syscall === 'connect') this.#fail(id, 'the spawner did not answer')
    })
    const started = deferred<number>()
    const ended = deferred<Ending>()
    ended.promise.catch(() => undefined)
    const failed = (error: GitError): void => {
      socket.destroy()
      started.reject(error)
      ended.reject(error)
    }
    this.#jobs.set(id, {
      pid: undefined,
      socket,
      started: started.resolve,
      ended: (ending) => {
        const reason = ending.failure ?? 'it ended at once'
        started.reject(new GitError('spawn', `git could not be started: ${reason}`, { args: rest.args }))
        ended.resolve(ending)
      },
      failed,
      onProgress,
    })
    this.#child?.channel?.ref()
    const order: LaunchOrder = { ...rest, id, progress: onProgress !== undefined }
    socket.write(`${JSON.stringify(order)}\n`)
    const clock = setTimeout(() => this.destroyChild(), startWaitMs)
    const pid = await started.promise.finally(() => clearTimeout(clock))
    return { pid, socket, ended: ended.promise, kill: () => this.#order({ kind: 'kill', id }) }
  }

  /** Kills the spawner child and, with it, every process it started; the next launch forks a new one. */
  destroyChild(): void {
    this.#child?.kill('SIGKILL')
  }

  /** Ends every process and the spawner child; waits at most 3 seconds for them. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#address?.catch(() => undefined)
    const child = this.#child
    if (child === undefined) return
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()))
    const clock = setTimeout(() => child.kill('SIGKILL'), closeWaitMs)
    child.disconnect()
    child.ref()
    await gone
    clearTimeout(clock)
  }

  #fork(): Promise<string> {
    const file = fileURLToPath(builtModule('git/processes/spawner_child'))
    const child = fork(file, [tmpdir()], {
      env: { PATH: this.#path },
      execArgv: ['--max-old-space-size=64', '--max-semi-space-size=1'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#child = child
    const ready = deferred<string>()
    const clock = setTimeout(() => child.kill('SIGKILL'), readyWaitMs)
    let address: string | undefined
    child.on('message', (report) => {
      if (!isChildReport(report)) return
      if (report.kind === 'ready') {
        clearTimeout(clock)
        address = report.socket
        if (this.#jobs.size === 0) child.channel?.unref()
        ready.resolve(address)
      } else this.#hear(report)
    })
    const died = (detail: string): void => {
      clearTimeout(clock)
      if (this.#child !== child) return
      this.#child = undefined
      this.#address = undefined
      ready.reject(new GitError('gone', `The git spawner did not start: ${detail}`))
      if (address !== undefined) rm(dirname(address), { recursive: true, force: true }).catch(() => undefined)
      this.#abandon(detail)
    }
    child.on('error', (error) => died(error.message))
    child.on('exit', (code, signal) => died(`exit code ${code}, signal ${signal}`))
    child.unref()
    return ready.promise
  }

  #hear(report: Exclude<ChildReport, { kind: 'ready' }>): void {
    const job = this.#jobs.get(report.id)
    if (job === undefined) return
    if (report.kind === 'started') {
      job.pid = report.pid
      job.started(report.pid)
    } else if (report.kind === 'progress') job.onProgress?.(report.line)
    else {
      this.#jobs.delete(report.id)
      if (this.#jobs.size === 0) this.#child?.channel?.unref()
      if (report.ending.failure !== undefined) job.socket.destroy()
      job.ended(report.ending)
    }
  }

  #fail(id: number, reason: string): void {
    const job = this.#jobs.get(id)
    this.#jobs.delete(id)
    job?.failed(new GitError('spawn', `git could not be started: ${reason}`))
  }

  #abandon(detail: string): void {
    if (!this.#closed) this.#onDeath(detail)
    for (const [id, job] of this.#jobs) {
      this.#jobs.delete(id)
      // The child can no longer do it, and a git that neither reads nor writes would live on.
      if (job.pid !== undefined) killGroup(job.pid, 'SIGKILL')
      job.failed(
        this.#closed
          ? new GitError('closed', closing)
          : new GitError('gone', `The git spawner ended (${detail}); the git command was killed unfinished`),
      )
    }
  }

  #order(order: KillOrder): void {
    this.#child?.send(order, () => undefined)
  }
}

interface Deferred<T> {
  promise: Promise<T>
  resolve: (value: T) => void
  reject: (error: GitError) => void
}

// Promise.withResolvers, which Node 20 does not have.
function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined
  let reject: (error: GitError) => void = () => undefined
  const promise = new Promise<T>((fulfil, refuse) => {
    resolve = fulfil
    reject = refuse
  })
  return { promise, resolve, reject }
}
