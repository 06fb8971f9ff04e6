import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, readdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { RefMove } from '../../git/refs/refs.ts'
import type { PushOptions } from './options.ts'

/** Refs that a user moved, acknowledged while the database could not be told. */
export interface UndeliveredPush {
  readonly push_id: string
  readonly project_id: number
  readonly user_id: number
  readonly moves: readonly RefMove[]
  readonly options?: PushOptions
}

/**
 * Keeps acknowledged pushes on disk while the database is away: which commits they brought stands nowhere else, and what
 * these close or mention would never hear of them.
 */
export interface UndeliveredPushes {
  /** Durable when it resolves. */
  keep(push: UndeliveredPush): Promise<void>
  /** Whether this process kept some that were not told since. */
  readonly waiting: () => boolean
  /** Calls `tell` with each push that is kept, by this process or one before, and forgets it. Throws what `tell` throws. */
  tellAll(tell: (push: UndeliveredPush) => Promise<void>): Promise<void>
}

/** Keeps each push as a file in `directory`, which it makes. */
export function openUndeliveredPushes(directory: string): UndeliveredPushes {
  let waiting = false
  let telling: Promise<void> = Promise.resolve()
  const tellOnce = async (tell: (push: UndeliveredPush) => Promise<void>): Promise<void> => {
    waiting = false
    const names = await readdir(directory).catch(() => [])
    for (const name of names.filter((one) => one.endsWith('.json')))
      try {
        const file = join(directory, name)
        await tell(JSON.parse(await readFile(file, 'utf8')) as UndeliveredPush)
        await rm(file, { force: true })
      } catch (error) {
        waiting = true
        throw error
      }
  }
  return {
    keep: async (push) => {
      await writeDurably(directory, JSON.stringify(push))
      waiting = true
    },
    waiting: () => waiting,
    tellAll: (tell) => {
      const next = telling.then(() => tellOnce(tell))
      telling = next.catch(() => {})
      return next
    },
  }
}

async function writeDurably(directory: string, text: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const file = join(directory, randomBytes(8).toString('hex'))
  const handle = await open(file, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  // Readers of the folder find complete files only.
  await rename(file, `${file}.json`)
  const folder = await open(directory, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
