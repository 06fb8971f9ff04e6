import { access, constants, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import type { Budget } from '../processes/budget.ts'
import { GitError, isGitError } from '../errors.ts'
import { mergeArguments, mergeTree, type MergeQuestion, type Merged } from './merge_tree.ts'
import { isSha } from '../names.ts'
import { Pool } from '../processes/pool.ts'
import type { RoomFolder } from '../care/room_folder.ts'
import type { Spawner } from '../processes/spawner.ts'

/** Parts of the room that quarantines need. */
export interface QuarantineParts {
  readonly spawner: Spawner
  /** Starts a long-lived process in a repository that is there. */
  readonly open: Spawner['open']
  readonly budget: Budget
  readonly folder: RoomFolder
  /** The PATH in which `stdbuf` is looked for. */
  readonly path: string
}

/** A folder that merges of all repositories write into, and the processes that do; repositories they only read. */
export interface Quarantine {
  /** An object directory. */
  readonly directory: string
  /** Merges two commits that are in the repository or here. Throws GitError when git fails. */
  ask(gitDirectory: string, question: MergeQuestion): Promise<Merged>
}

interface Kept extends Quarantine {
  readonly pool: Pool<MergeQuestion, Merged>
  merges: number
  users: number
}

/** Merges after which a folder is given up with the processes that know it: neither then grows without end. */
const mergesAFolder = 250
const rememberedAnswers = 1_000
const singleMergeMs = 30_000
const maxSingleBytes = 4 * 1024 * 1024

/** Hands out the quarantine of the day. */
export class Quarantines {
  readonly #parts: QuarantineParts
  readonly #kept = new Set<Kept>()
  #current: Promise<Kept> | undefined
  #unbuffer: Promise<string | undefined> | undefined
  #streams: 'unknown' | 'yes' | 'no' = 'unknown'
  #made = 0

  constructor(parts: QuarantineParts) {
    this.#parts = parts
  }

  /** Runs `work` with a quarantine that stays while it runs. */
  async use<T>(work: (quarantine: Quarantine) => Promise<T>): Promise<T> {
    const making = (this.#current ??= this.#make())
    let kept: Kept
    try {
      kept = await making
    } catch (error) {
      if (this.#current === making) this.#current = undefined
      throw error
    }
    kept.users += 1
    kept.merges += 1
    if (kept.merges >= mergesAFolder && this.#current === making) this.#current = undefined
    try {
      return await work(kept)
    } finally {
      kept.users -= 1
      if (kept.users === 0 && kept.merges >= mergesAFolder) await this.#drop(kept)
    }
  }

  /** Replaces the processes that read the repository. */
  recycle(gitDirectory: string): void {
    for (const { pool } of this.#kept) pool.recycle(gitDirectory)
  }

  /** Ends every process and removes every folder. */
  async close(): Promise<void> {
    await Promise.all([...this.#kept].map((kept) => this.#drop(kept)))
  }

  async #make(): Promise<Kept> {
    const { budget, folder, open } = this.#parts
    this.#unbuffer ??= findProgram('stdbuf', this.#parts.path)
    const unbuffer = await this.#unbuffer
    this.#made += 1
    const directory = await folder.make(`merges-${this.#made}`)
    const answers = new LRUCache<string, Merged>({ max: rememberedAnswers })
    const pool = new Pool(mergeTree, budget, (args, gitDirectory) => {
      const environment = environmentOf(directory, gitDirectory)
      return open(args, gitDirectory, { environment, ...(unbuffer !== undefined && { unbuffer }) })
    })
    const kept: Kept = {
      directory,
      pool,
      merges: 0,
      users: 0,
      ask: async (gitDirectory, question) => {
        const key = `${gitDirectory}\0${question.ours}\0${question.theirs}`
        const known = answers.get(key)
        if (known !== undefined) return known
        const answer = await this.#ask(kept, gitDirectory, question)
        answers.set(key, answer)
        return answer
      },
    }
    this.#kept.add(kept)
    return kept
  }

  /** By a long-lived process where there is a way to get its answers at once, else by a process each. */
  async #ask(kept: Kept, gitDirectory: string, question: MergeQuestion): Promise<Merged> {
    const isKnownToFail = this.#streams === 'no' || (await this.#unbuffer) === undefined
    if (isKnownToFail) return this.#askOnce(kept, gitDirectory, question)
    try {
      const answer = await kept.pool.ask(gitDirectory, question)
      this.#streams = 'yes'
      return answer
    } catch (error) {
      // Only conflicts are long.
      if (isGitError(error, 'too_large')) return { clean: false, tree: '' }
      const mayBeTheWay =
        isGitError(error, 'gone') || isGitError(error, 'timeout') || isGitError(error, 'spawn')
      if (this.#streams === 'yes' || !mayBeTheWay) throw error
      const answer = await this.#askOnce(kept, gitDirectory, question)
      this.#streams = 'no'
      return answer
    }
  }

  async #askOnce(kept: Kept, gitDirectory: string, { ours, theirs }: MergeQuestion): Promise<Merged> {
    const args = [...mergeArguments, '--end-of-options', ours, theirs]
    try {
      const output = await this.#parts.spawner.run(args, {
        gitDirectory,
        environment: environmentOf(kept.directory, gitDirectory),
        timeoutMs: singleMergeMs,
        maxBytes: maxSingleBytes,
      })
      const tree = output.toString('latin1', 0, 40)
      if (!isSha(tree)) throw new GitError('gone', 'git merge-tree answered out of form')
      return { clean: true, tree }
    } catch (error) {
      const isConflict = (isGitError(error, 'exit') && error.code === 1) || isGitError(error, 'too_large')
      if (isConflict) return { clean: false, tree: '' }
      throw error
    }
  }

  async #drop(kept: Kept): Promise<void> {
    this.#kept.delete(kept)
    await kept.pool.close()
    await rm(kept.directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

function environmentOf(directory: string, gitDirectory: string): Record<string, string> {
  // In quotes, as a colon would end the path.
  const quoted = join(gitDirectory, 'objects').replaceAll(/["\\]/g, '\\$&')
  return { GIT_OBJECT_DIRECTORY: directory, GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${quoted}"` }
}

async function findProgram(name: string, path: string): Promise<string | undefined> {
  for (const directory of path.split(':').filter((part) => part.startsWith('/'))) {
    const file = join(directory, name)
    const isThere = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return file
  }
  return undefined
}
