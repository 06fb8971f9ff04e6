import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { commandOf, type Bounds, type Program } from './bounds.ts'
import { delimiter, join } from 'node:path'
import { Readable } from 'node:stream'
import { gitEnvironment, globalArguments } from './environment.ts'
import { GitError } from '../errors.ts'
import { checkEnding } from './ending.ts'
import { Lane } from './lane.ts'
import { SpawnerLink, type GitProcess } from './spawner_link.ts'

/** Sizes and places of the spawner. */
export interface SpawnerOptions {
  /** Path or name of the git program. */
  binary: string
  /** The PATH that git gets, and the only thing it gets from outside. */
  path: string
  /** How many one-shot commands run at once. */
  width: number
  /** How many long transfers (imports) run at once, beside those. */
  slowWidth: number
  onDeath: (detail: string) => void
}

/** Limits and input of one command. */
export interface RunOptions {
  gitDirectory?: string
  /** Written to stdin, which is then closed; without it stdin is /dev/null. */
  input?: string | Buffer
  /** Milliseconds, default 30,000. */
  timeoutMs?: number
  /** Bytes of stdout, default 64 MiB. */
  maxBytes?: number
  signal?: AbortSignal
  /** `slow` commands have places of their own, so that an import cannot starve reads. */
  lane?: 'quick' | 'slow' | 'download'
  environment?: Readonly<Record<string, string>>
  onProgress?: (line: string) => void
  bounds?: Bounds
}

/** Further input of a long-lived command. */
export interface OpenOptions {
  environment?: Readonly<Record<string, string>>
  /** Path of the program `stdbuf`, through which a command is started that would keep its answers to itself. */
  unbuffer?: string
  /** Milliseconds until the process is ended; without it, it lives until it is closed. */
  timeoutMs?: number
  bounds?: Bounds
}

const defaultTimeoutMs = 30_000
const downloadWidth = 16
const defaultMaxBytes = 64 * 1024 * 1024
const queueLength = 2_000
const queueWaitMs = 30_000
/** How far past its own limit a process may be before the spawner child counts as stuck. */
const overdueMs = 10_000

/** Runs git in processes that a small child of the server starts: one-shot commands and long-lived ones. */
export class Spawner {
  readonly #options: SpawnerOptions
  readonly #link: SpawnerLink
  readonly #lanes: Readonly<Record<'quick' | 'slow' | 'download', Lane>>

  constructor(options: SpawnerOptions) {
    this.#options = options
    this.#link = new SpawnerLink(options.path, options.onDeath)
    const limits = { queue: queueLength, waitMs: queueWaitMs }
    this.#lanes = {
      quick: new Lane({ ...limits, width: options.width }),
      slow: new Lane({ ...limits, width: options.slowWidth }),
      // A reader may be slow, and holds up other readers only.
      download: new Lane({ ...limits, width: downloadWidth }),
    }
  }

  /** Path or name of the git program. */
  get binary(): string {
    return this.#options.binary
  }

  /** The process id of the spawner child, while one runs. */
  get pid(): number | undefined {
    return this.#link.pid
  }

  /**
   * Runs one command to its end and returns its whole stdout. `args` starts with the command's name.
   * Throws GitError: `exit` for any status but 0, `timeout`, `too_large`, `aborted`, `busy`, `spawn`, `gone`, `closed`;
   * except for `gone` the process has ended by then.
   */
  async run(args: readonly string[], options: RunOptions = {}): Promise<Buffer> {
    const leave = await this.#lanes[options.lane ?? 'quick'].enter(options.signal)
    try {
      return await this.#runNow(args, options)
    } finally {
      leave()
    }
  }

  /**
   * Runs one command whose stdout is read as it comes, within `timeoutMs` (default 30,000) and on a place of its lane
   * (`quick` for readers of our own, `download` for any other) until the reader is done. Destroying the stream ends git;
   * a git that fails destroys the stream with GitError. Throws GitError `busy`, `spawn`, `gone`, `closed`.
   */
  async stream(
    args: readonly string[],
    options: Pick<RunOptions, 'gitDirectory' | 'timeoutMs' | 'lane'>,
  ): Promise<Readable> {
    const leave = await this.#lanes[options.lane ?? 'quick'].enter()
    try {
      const timeoutMs = options.timeoutMs ?? defaultTimeoutMs
      const git = await this.#link.launch({
        binary: this.#options.binary,
        args: [...globalArguments(options.gitDirectory), ...args],
        env: gitEnvironment(this.#options.path),
        input: false,
        timeoutMs,
      })
      return readableOf(git.socket, {
        kill: () => git.kill(),
        leave,
        ended: git.ended.then((ending) => checkEnding(args, ending, timeoutMs)),
      })
    } catch (error) {
      leave()
      throw error
    }
  }

  /** Whether git finds a program on its path. */
  async has(program: string): Promise<boolean> {
    const found = this.#options.path
      .split(delimiter)
      .map((folder) => access(join(folder, program), constants.X_OK))
    return (await Promise.allSettled(found)).some(({ status }) => status === 'fulfilled')
  }

  /**
   * Starts a long-lived command with stdin and stdout on one socket; it is ended after `timeoutMs`, never without.
   * Throws GitError `spawn`, `gone`, `closed`.
   */
  open(args: readonly string[], gitDirectory: string, options: OpenOptions = {}): Promise<GitProcess> {
    const all = [...globalArguments(gitDirectory), ...args]
    const { unbuffer, timeoutMs = 0, bounds } = options
    const program: Program =
      unbuffer === undefined ? [this.#options.binary, all] : [unbuffer, ['-o0', this.#options.binary, ...all]]
    return this.#link.launch({
      ...commandOf(program, bounds),
      env: { ...gitEnvironment(this.#options.path), ...options.environment },
      input: true,
      timeoutMs,
    })
  }

  /** Ends every process; calls in flight fail with GitError `closed`. */
  close(): Promise<void> {
    return this.#link.close()
  }

  async #runNow(args: readonly string[], options: RunOptions): Promise<Buffer> {
    const timeoutMs = options.timeoutMs ?? defaultTimeoutMs
    const all = [...globalArguments(options.gitDirectory), ...args]
    const git = await this.#link.launch({
      ...commandOf([this.#options.binary, all], options.bounds),
      env: { ...gitEnvironment(this.#options.path), ...options.environment },
      input: options.input !== undefined,
      timeoutMs,
      ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
    })
    const overdue = setTimeout(() => this.#link.destroyChild(), timeoutMs + overdueMs)
    const abort = (): void => git.kill()
    options.signal?.addEventListener('abort', abort, { once: true })
    if (options.signal?.aborted === true) git.kill()
    try {
      if (options.input !== undefined) git.socket.end(options.input)
      const output = await collect(git.socket, options.maxBytes ?? defaultMaxBytes, () => git.kill())
      const ending = await git.ended
      if (options.signal?.aborted === true)
        throw new GitError('aborted', `git ${args[0]} was aborted`, { args })
      if (output === undefined) throw new GitError('too_large', `git ${args[0]} wrote too much`, { args })
      checkEnding(args, ending, timeoutMs)
      return output
    } finally {
      clearTimeout(overdue)
      options.signal?.removeEventListener('abort', abort)
      git.socket.destroy()
    }
  }
}

interface Running {
  readonly kill: () => void
  readonly leave: () => void
  /** Rejects when git fails. */
  readonly ended: Promise<void>
}

/** The stdout of a process: it ends only after git has ended well, and the process ends with it. */
function readableOf(socket: Socket, { kill, leave, ended }: Running): Readable {
  ended.catch(() => undefined)
  socket.pause()
  const output = new Readable({
    read: () => void socket.resume(),
    destroy: (error, done) => {
      kill()
      socket.destroy()
      leave()
      done(error)
    },
  })
  socket.on('data', (chunk: Buffer) => {
    if (!output.push(chunk)) socket.pause()
  })
  const finish = async (): Promise<void> => {
    const failure = await ended.then(
      () => undefined,
      (error: unknown) => (error instanceof Error ? error : new Error(String(error))),
    )
    if (failure !== undefined) output.destroy(failure)
    else if (!output.destroyed) output.push(null)
  }
  socket.once('end', () => void finish())
  socket.once('close', () => void (socket.readableEnded || finish()))
  return output
}

/** Reads to the end; undefined when there was more than `maxBytes`, of which nothing is kept. */
function collect(socket: Socket, maxBytes: number, stop: () => void): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = []
    let size = 0
    socket.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size <= maxBytes) chunks.push(chunk)
      else {
        chunks.length = 0
        stop()
        socket.destroy()
      }
    })
    const finish = (): void => resolve(size > maxBytes ? undefined : Buffer.concat(chunks))
    socket.once('end', finish)
    socket.once('close', finish)
    // A process without output can have ended before anybody listened.
    if (socket.readableEnded || socket.destroyed) finish()
  })
}
