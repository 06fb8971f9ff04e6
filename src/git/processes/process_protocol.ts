import { GitError, isGitError } from '../errors.ts'
import type { GitProcess } from './spawner_link.ts'

/** The parse of the bytes so far: a whole answer of `used` bytes, or how many bytes it takes to go on. */
export type Reading<A> = { used: number; answer: A } | { need: number }

/**
 * How one long-lived git command is spoken with.
 * `encode` throws TypeError for a question that must never reach the process. `read` throws GitError `gone` for bytes
 * that cannot be an answer to `question`, and `too_large` for an answer that is not worth its memory.
 */
export interface Dialect<Q, A> {
  readonly name: string
  readonly args: readonly string[]
  /** How many processes of it one repository may have. */
  readonly perRepository: number
  /** Milliseconds that the process may be silent while it owes an answer. */
  readonly silenceMs: number
  /** Answers after which a process is replaced, because git's memory only grows. */
  readonly recycleAfter: number
  encode(question: Q): string
  read(bytes: Buffer, question: Q): Reading<A>
}

interface Pending<Q, A> {
  question: Q
  resolve: (answer: A) => void
  reject: (error: GitError) => void
}

/**
 * One long-lived git process and the questions it still owes answers to, in order. The first fault ends the process:
 * its culprit gets the fault, everybody behind it `gone`, and nobody ever gets another's answer.
 */
export class Conversation<Q, A> {
  readonly #dialect: Dialect<Q, A>
  readonly #pending: Pending<Q, A>[] = []
  readonly #onIdle: () => void
  #git: GitProcess | undefined
  #unsent = ''
  #chunks: Buffer[] = []
  #size = 0
  #need = 1
  #asked = 0
  #retired = false
  #destroyed = false
  #silence: NodeJS.Timeout | undefined
  /** Resolves, and never rejects, when the process has ended. */
  readonly ended: Promise<void>

  constructor(dialect: Dialect<Q, A>, start: () => Promise<GitProcess>, onIdle: () => void) {
    this.#dialect = dialect
    this.#onIdle = onIdle
    this.ended = this.#live(start)
  }

  /** How many questions are unanswered. */
  get load(): number {
    return this.#pending.length
  }

  /** False once no new question may be asked. */
  get isOpen(): boolean {
    return !this.#retired
  }

  /** Asks one question. Rejects with GitError `gone` when the process ended first, and with what `read` throws. */
  ask(question: Q): Promise<A> {
    const text = this.#dialect.encode(question)
    return new Promise((resolve, reject) => {
      if (this.#retired) {
        reject(new GitError('gone', `git ${this.#dialect.name} has been retired`))
        return
      }
      this.#pending.push({ question, resolve, reject })
      if (this.#pending.length === 1) this.#watch()
      this.#send(text)
      this.#asked += 1
      if (this.#asked >= this.#dialect.recycleAfter) this.retire()
    })
  }

  /** Takes no more questions; the process ends once it has answered those it has. */
  retire(): void {
    this.#retired = true
    if (this.#pending.length === 0) this.#git?.socket.end()
  }

  /** Ends the process at once; every open question fails with `error`. */
  destroy(error: GitError): void {
    this.#retired = true
    this.#destroyed = true
    clearTimeout(this.#silence)
    this.#end()
    for (const { reject } of this.#pending.splice(0)) reject(error)
  }

  #end(): void {
    this.#git?.kill()
    this.#git?.socket.destroy()
  }

  async #live(start: () => Promise<GitProcess>): Promise<void> {
    let stderr = ''
    try {
      const git = await start()
      this.#git = git
      // Given up while it was starting: nobody else would end it.
      if (this.#destroyed) this.#end()
      git.socket.on('data', (chunk: Buffer) => this.#hear(chunk))
      git.socket.on('end', () => git.socket.destroy())
      this.#send('')
      if (this.#retired && this.#pending.length === 0) git.socket.end()
      stderr = (await git.ended).stderr
    } catch (error) {
      const fault = isGitError(error) ? error.fault : 'gone'
      this.destroy(new GitError(fault, `git ${this.#dialect.name} could not go on`, { cause: error }))
    }
    this.destroy(new GitError('gone', `git ${this.#dialect.name} ended before it answered`, { stderr }))
  }

  /** Questions of one turn of the event loop leave in one write: a page of commits costs one system call. */
  #send(text: string): void {
    const isFirst = this.#unsent === ''
    this.#unsent += text
    if (this.#git === undefined || (!isFirst && text !== '')) return
    queueMicrotask(() => {
      if (this.#unsent !== '' && this.#git?.socket.writable === true) this.#git.socket.write(this.#unsent)
      this.#unsent = ''
    })
  }

  #hear(chunk: Buffer): void {
    this.#chunks.push(chunk)
    this.#size += chunk.length
    this.#silence?.refresh()
    if (this.#size < this.#need) return
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    let from = 0
    this.#need = 1
    while (from < bytes.length) {
      const first = this.#pending[0]
      if (first === undefined) return this.destroy(new GitError('gone', 'git answered what nobody asked'))
      try {
        const reading = this.#dialect.read(bytes.subarray(from), first.question)
        if ('need' in reading) {
          this.#need = reading.need
          break
        }
        from += reading.used
        this.#pending.shift()
        first.resolve(reading.answer)
      } catch (error) {
        this.#pending.shift()
        first.reject(
          isGitError(error) ? error : new GitError('gone', 'git answered nonsense', { cause: error }),
        )
        return this.destroy(new GitError('gone', `git ${this.#dialect.name} was ended by another question`))
      }
    }
    const rest = bytes.subarray(from)
    this.#chunks = rest.length === 0 ? [] : [rest]
    this.#size = rest.length
    if (this.#pending.length === 0) this.#rest()
  }

  #rest(): void {
    clearTimeout(this.#silence)
    if (this.#retired) this.#git?.socket.end()
    else this.#onIdle()
  }

  #watch(): void {
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => {
      const first = this.#pending.shift()
      first?.reject(new GitError('timeout', `git ${this.#dialect.name} was silent for too long`))
      this.destroy(new GitError('gone', `git ${this.#dialect.name} was ended by a slow question`))
    }, this.#dialect.silenceMs)
  }
}
