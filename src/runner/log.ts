import { crc32 } from 'node:zlib'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Coordinator, Outcome, Word } from './coordinator.ts'
import { createMask, type Mask } from './mask.ts'
import type { JobPayload } from './payload.ts'

const MB = 1024 * 1024
/** Bytes of a log; what a job prints beyond is dropped. */
const MAX_LOG_BYTES = 4 * MB
/** Bytes of one part that is sent. */
const MAX_PART_BYTES = MB
/** Milliseconds between two signs of life, and between two looks whether the job was canceled. */
const INTERVAL = 3_000
/** Times that a log is sent again whose checksum differs at the server. */
const ATTEMPTS = 3

/** The log of a job: what is written goes masked to the server, in the background. */
export class JobLog {
  readonly #coordinator: Coordinator
  readonly #job: JobPayload
  readonly #heard: (word: Word) => void
  readonly #mask: Mask
  #store: Buffer = Buffer.alloc(4_096)
  #length = 0
  #isFull = false
  #sent = 0
  readonly #over = new AbortController()
  readonly #sending: Promise<void>
  #word: Word = 'running'

  /** `heard` is told what the server says of the job, whenever that changes. */
  constructor(coordinator: Coordinator, job: JobPayload, heard: (word: Word) => void) {
    this.#coordinator = coordinator
    this.#job = job
    this.#heard = heard
    const secret = job.variables.filter(({ masked }) => masked === true).map(({ value }) => value)
    this.#mask = createMask([...secret, job.token], job.features?.token_mask_prefixes ?? [])
    this.#sending = this.#send().catch(() => this.#hear('gone'))
  }

  write(text: string | Buffer): void {
    this.#keep(this.#mask.push(typeof text === 'string' ? Buffer.from(text) : text))
  }

  line(text: string): void {
    this.write(`${text}\u001B[0;m\n`)
  }

  get #isGone(): boolean {
    return this.#word === 'gone'
  }

  get #bytes(): Buffer {
    return this.#store.subarray(0, this.#length)
  }

  #add(bytes: Buffer): void {
    const length = this.#length + bytes.length
    if (length > this.#store.length) {
      const store = Buffer.alloc(Math.max(length, this.#store.length * 2))
      this.#store.copy(store, 0, 0, this.#length)
      this.#store = store
    }
    bytes.copy(this.#store, this.#length)
    this.#length = length
  }

  #keep(bytes: Buffer): void {
    if (this.#isFull) return
    const room = MAX_LOG_BYTES - this.#length
    this.#add(bytes.subarray(0, room))
    if (bytes.length <= room) return
    this.#isFull = true
    this.#add(Buffer.from(`\n\u001B[33;1mJob's log exceeded limit of ${MAX_LOG_BYTES} bytes.\u001B[0;m\n`))
  }

  async #send(): Promise<void> {
    while (!this.#over.signal.aborted && !this.#isGone) {
      const before = Date.now()
      if (this.#sent < this.#length) await this.#sendPart()
      else this.#hear(await this.#coordinator.touch(this.#job))
      const rest = this.#sent < this.#length ? 200 : INTERVAL
      await sleep(Math.max(0, rest - (Date.now() - before)), undefined, { signal: this.#over.signal }).catch(
        () => {},
      )
    }
  }

  async #sendPart(): Promise<void> {
    const part = this.#bytes.subarray(this.#sent, this.#sent + MAX_PART_BYTES)
    const { word, size } = await this.#coordinator.append(this.#job, this.#sent, part)
    this.#hear(word)
    this.#sent = Math.min(size, this.#length)
  }

  #hear(word: Word): void {
    if (word === this.#word) return
    this.#word = word
    this.#heard(word)
  }

  /** Sends what is left of the log, and the outcome. Throws where the server stays away for too long. */
  async finish(outcome: Outcome): Promise<void> {
    this.#keep(this.#mask.end())
    this.#over.abort()
    await this.#sending
    for (let attempt = 0; !this.#isGone; attempt += 1) {
      while (this.#sent < this.#length && !this.#isGone) await this.#sendPart()
      if (this.#isGone) return
      const bytesize = this.#length
      const checksum = `crc32:${crc32(this.#bytes).toString(16).padStart(8, '0')}`
      const output = attempt < ATTEMPTS ? { checksum, bytesize } : undefined
      if (await this.#coordinator.finish(this.#job, outcome, output)) return
      // The server answers an offset that is too small with the length of its log.
      this.#sent = 0
    }
  }

  /** Stops sending: the server wants nothing more of the job. */
  async abandon(): Promise<void> {
    this.#over.abort()
    await this.#sending
  }
}
