import type { ServerResponse } from 'node:http'
import { finished } from 'node:stream'
import type { Db } from '../../db/db.ts'
import { objectTooLarge, unavailable } from '../problems.ts'

const MB = 1024 * 1024
/** Code units and bytes of one answer that are not counted. */
const MAX_UNCOUNTED = MB / 4
/** Code units of rows from which an answer is written as it is read. */
const LARGE = 4 * MB
/** Code units and bytes that all answers under way may hold together. */
const MAX_HELD = 192 * MB
/** The claim of a large answer while its rows are read: of those that are read at the same moment, two go through. */
const CLAIM = MAX_HELD / 2

let held = 0

/** The memory of one answer, in code units of rows and bytes of JSON: counted until its connection is done with it. */
export class AnswerMemory {
  readonly #raw: ServerResponse
  #length = 0
  #reserved = 0
  #claim = CLAIM

  constructor(raw: ServerResponse) {
    this.#raw = raw
  }

  /** Throws the Problem 413 above what all answers may hold, and 503 while others hold it. */
  add(length: number): void {
    this.#length += length
    if (this.#length <= MAX_UNCOUNTED) return
    if (this.#length > MAX_HELD) throw objectTooLarge()
    this.#reserve(this.isLarge ? Math.max(this.#length, this.#claim) : this.#length)
  }

  /** Gives back what was claimed beyond the rows, once all are read. */
  settle(): void {
    this.#claim = 0
    if (this.#reserved > this.#length) this.#reserve(this.#length)
  }

  #reserve(length: number): void {
    const more = length - this.#reserved
    if (more > 0 && (held + more > MAX_HELD || this.#raw.closed)) throw unavailable()
    if (this.#reserved === 0) finished(this.#raw, () => this.#release())
    held += more
    this.#reserved = length
  }

  #release(): void {
    held -= this.#reserved
    this.#reserved = 0
  }

  get isLarge(): boolean {
    return this.#length > LARGE
  }
}

/** The database, its lists counted against the memory of the answer. */
export function counted(db: Db, memory: AnswerMemory): Db {
  const lists = db.counted((length) => memory.add(length))
  return { ...db, rows: (...given) => lists.rows(...given), page: (...given) => lists.page(...given) }
}
