import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { UndeliveredPushes } from './undelivered_pushes.ts'

/** The content of a mark: refs of the project changed after `since` may not be in the database yet. */
export interface RefUpdateMark {
  readonly file: string
  readonly projectId: number
  /** The project had no commit before. */
  readonly first: boolean
  readonly since: Date
}

/**
 * Which projects' refs are moving. Git goes first and the rows after, so a mark on disk stands before a ref moves: what a
 * crash leaves between the two is found by it. One mark serves many moves, until it is swept.
 */
export interface PendingRefUpdates {
  /** Moves that were acknowledged and that the database has yet to be told of. */
  readonly undelivered: UndeliveredPushes
  /**
   * Call before refs of the project move, `first` when it has no commit yet; the mark is durable when it resolves. Call
   * what it returns when the rows have heard, or `false` when they have not. The mark of a first commit goes at once:
   * what follows from that must not follow again.
   */
  begin(projectId: number, first: boolean): Promise<(heard: boolean) => Promise<void>>
  /** Whether the first commit of the project is being made, or was and the rows have not heard of it. */
  isFirst(projectId: number): boolean
  /** The marks of this process of which no move is under way. Moves that begin from now on make marks of their own. */
  take(): RefUpdateMark[]
  /** The marks on disk that this process does not hold: of others, and of those that died. */
  others(): Promise<RefUpdateMark[]>
  /** Removes a mark, once the rows agree. */
  remove(mark: RefUpdateMark): Promise<void>
}

interface Entry {
  readonly mark: RefUpdateMark
  readonly durable: Promise<void>
  underWay: number
  /** Set once something moved that the rows have not heard of. */
  unheard: boolean
}

/** Keeps marks as empty files in `directory`, which it makes. */
export const openPendingRefUpdates = (directory: string, undelivered: UndeliveredPushes): PendingRefUpdates =>
  new Marks(directory, undelivered)

class Marks implements PendingRefUpdates {
  readonly undelivered: UndeliveredPushes
  readonly #directory: string
  readonly #nonce = randomBytes(6).toString('hex')
  readonly #entries = new Map<string, Entry>()
  /** Those that take no more moves, and wait for theirs to end. */
  #closed: Entry[] = []
  #round = 0

  constructor(directory: string, undelivered: UndeliveredPushes) {
    this.#directory = directory
    this.undelivered = undelivered
  }

  async begin(projectId: number, first: boolean): Promise<(heard: boolean) => Promise<void>> {
    const entry = this.#entryOf(projectId, first)
    entry.underWay += 1
    let over = false
    const end = async (heard: boolean): Promise<void> => {
      if (over) return
      over = true
      entry.underWay -= 1
      entry.unheard ||= !heard
      if (first && !entry.unheard && entry.underWay === 0) await this.#drop(entry)
    }
    try {
      await entry.durable
      return end
    } catch (error) {
      await end(false)
      throw error
    }
  }

  isFirst(projectId: number): boolean {
    if (this.#entries.has(`${projectId}.first`)) return true
    return this.#closed.some(({ mark }) => mark.first && mark.projectId === projectId)
  }

  take(): RefUpdateMark[] {
    const all = [...this.#closed, ...this.#entries.values()]
    this.#entries.clear()
    this.#closed = all.filter(({ underWay }) => underWay > 0)
    return all.filter(({ underWay }) => underWay === 0).map(({ mark }) => mark)
  }

  async others(): Promise<RefUpdateMark[]> {
    const names = await readdir(this.#directory).catch(() => [])
    const marks = await Promise.all(names.map((name) => readMark(this.#directory, name)))
    const mine = new Set([...this.#closed, ...this.#entries.values()].map(({ mark }) => mark.file))
    return marks.filter((mark) => mark !== undefined).filter(({ file }) => !mine.has(file))
  }

  remove({ file }: RefUpdateMark): Promise<void> {
    return rm(file, { force: true })
  }

  #entryOf(projectId: number, first: boolean): Entry {
    const key = `${projectId}.${first ? 'first' : 'any'}`
    const known = this.#entries.get(key)
    if (known !== undefined) return known
    const file = join(this.#directory, `${key}.${this.#nonce}.${(this.#round += 1)}`)
    const mark = { file, projectId, first, since: new Date() }
    const entry = { mark, durable: writeMark(this.#directory, file), underWay: 0, unheard: false }
    this.#entries.set(key, entry)
    // One that could not be written is no mark.
    entry.durable.catch(() => this.#entries.delete(key))
    return entry
  }

  #drop(entry: Entry): Promise<void> {
    for (const [key, one] of this.#entries) if (one === entry) this.#entries.delete(key)
    this.#closed = this.#closed.filter((one) => one !== entry)
    return this.remove(entry.mark)
  }
}

async function writeMark(directory: string, file: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const made = await open(file, 'wx', 0o600)
  await made.close()
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

async function readMark(directory: string, name: string): Promise<RefUpdateMark | undefined> {
  const [, id, kind] = /^(\d{1,15})\.(first|any)\.\w+\.\d+$/.exec(name) ?? []
  if (id === undefined) return undefined
  const file = join(directory, name)
  const since = await stat(file).then(
    ({ mtime }) => mtime,
    () => undefined,
  )
  return since && { file, projectId: Number(id), first: kind === 'first', since }
}
