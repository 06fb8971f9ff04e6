import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { makeDirectory, syncDirectory } from '../durable.ts'
import { GitError } from '../errors.ts'
import { fsckOption } from '../fsck.ts'
import { findOversized, receivingBounds, type Oversized } from '../objects/received.ts'
import type { OpenOptions, Spawner } from '../processes/spawner.ts'
import type { Ending } from '../processes/spawner_protocol.ts'

/** Fewer objects become a file each, more stay a pack, as git itself has it. */
const looseBelow = 100
const unpackMs = 3_600_000
const checkMs = 600_000
// Contents above the threshold go through the child in pieces; all else is held to `bounds`.
const quick = [
  'core.fsync=committed,reference',
  'pack.threads=2',
  'core.bigFileThreshold=32m',
  'core.deltaBaseCacheLimit=64m',
].flatMap((setting) => ['-c', setting])

/**
 * Objects that came with a push and are not yet the repository's: nobody else sees them, and when they are not wanted
 * they leave nothing. Git clears such directories away when the server died over them.
 */
export class Quarantine {
  readonly #spawner: Spawner
  readonly #gitDirectory: string
  readonly #directory: string

  constructor(spawner: Spawner, gitDirectory: string) {
    this.#spawner = spawner
    this.#gitDirectory = gitDirectory
    this.#directory = join(gitDirectory, 'objects', `tmp_objdir-incoming-${randomBytes(8).toString('hex')}`)
  }

  /**
   * Takes a pack of `count` objects apart, checks each object, and makes all durable. Git asks for the memory of an object
   * by the size in its header: an object beyond the bounds is refused before it unfolds. Throws GitError `exit` with git's
   * message for a bad pack or object, `timeout`, `aborted`.
   */
  async unpack(pack: Readable, count: number, maxBytes: number): Promise<void> {
    await mkdir(join(this.#directory, 'pack'), { recursive: true, mode: 0o750 })
    const how = count < looseBelow ? ['unpack-objects', '-q'] : ['index-pack', '--stdin', '--fix-thin']
    const args = [...quick, ...how, fsckOption, `--max-input-size=${maxBytes}`]
    const ending = await this.#run(args, pack, { timeoutMs: unpackMs, bounds: receivingBounds(count) })
    if (ending.code !== 0) throw failure(args, ending)
  }

  /** The first object that is larger than its type may be; undefined when none is. Throws GitError. */
  oversized(): Promise<Oversized | undefined> {
    return findOversized(this.#spawner, this.#gitDirectory, { GIT_OBJECT_DIRECTORY: this.#directory })
  }

  /** True when all that these hashes reach is there, here or in the repository. Throws GitError. */
  async isConnected(hashes: readonly string[]): Promise<boolean> {
    const args = ['rev-list', '--objects', '--stdin', '--not', '--all', '--quiet']
    const ending = await this.#run(args, `${hashes.join('\n')}\n`, { timeoutMs: checkMs })
    if (ending.timedOut) throw failure(args, ending)
    return ending.code === 0
  }

  /** True when the commit `older` is among the ancestors of `newer`. Throws GitError. */
  async isAncestor(older: string, newer: string): Promise<boolean> {
    const args = ['merge-base', '--is-ancestor', older, newer]
    const ending = await this.#run(args, '', { timeoutMs: checkMs })
    if (ending.code !== 0 && ending.code !== 1) throw failure(args, ending)
    return ending.code === 0
  }

  /** Makes the objects the repository's own, durably. */
  async release(): Promise<void> {
    const objects = join(this.#gitDirectory, 'objects')
    const entries = await readdir(this.#directory).catch(() => [])
    await Promise.all(
      entries.map(async (entry) => {
        const files = await readdir(join(this.#directory, entry))
        if (files.length === 0) return
        await makeDirectory(join(objects, entry))
        // The index comes last: what has one is taken for whole.
        for (const file of files.toSorted((a, b) => Number(a.endsWith('.idx')) - Number(b.endsWith('.idx'))))
          await rename(join(this.#directory, entry, file), join(objects, entry, file))
        await syncDirectory(join(objects, entry))
      }),
    )
    await this.discard()
  }

  /** Forgets the objects. */
  async discard(): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true, maxRetries: 3 })
  }

  async #run(
    args: readonly string[],
    input: string | Readable,
    limits: Pick<OpenOptions, 'timeoutMs' | 'bounds'>,
  ): Promise<Ending> {
    const objects = join(this.#gitDirectory, 'objects')
    const git = await this.#spawner.open(args, this.#gitDirectory, {
      environment: {
        GIT_OBJECT_DIRECTORY: this.#directory,
        // As git reads it, a colon ends a path that is not quoted.
        GIT_ALTERNATE_OBJECT_DIRECTORIES: /[:"\\]/.test(objects) ? JSON.stringify(objects) : objects,
      },
      ...limits,
    })
    // Unread output would block the process.
    git.socket.resume()
    git.socket.on('end', () => git.socket.destroy())
    try {
      if (typeof input === 'string') git.socket.end(input)
      else await pour(input, git.socket, () => git.kill())
      return await git.ended
    } finally {
      git.socket.destroy()
    }
  }
}

/** Pipes to the end of either. Git ends by itself when it has what it wants, or finds fault; the input may not. */
function pour(
  input: Readable,
  socket: NodeJS.WritableStream & { destroyed: boolean },
  stop: () => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      stop()
      reject(
        error instanceof GitError ? error : new GitError('aborted', 'The pack ended early', { cause: error }),
      )
    }
    input.once('error', fail)
    input.once('close', () => {
      if (!input.readableEnded) fail(new Error('closed'))
    })
    input.once('end', resolve)
    socket.once('close', () => {
      input.unpipe(socket)
      resolve()
    })
    input.pipe(socket)
  })
}

const failure = (args: readonly string[], ending: Ending): GitError =>
  new GitError(ending.timedOut ? 'timeout' : 'exit', 'git did not take what was pushed', { args, ...ending })
