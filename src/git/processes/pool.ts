import type { Budget, Tenant } from './budget.ts'
import { Conversation, type Dialect } from './process_protocol.ts'
import { isGitError, GitError } from '../errors.ts'
import type { GitProcess } from './spawner_link.ts'

interface Member<Q, A> {
  conversation: Conversation<Q, A>
  tenant: Tenant
}

const attempts = 3

/** The long-lived processes of one dialect, per repository; several pools share one budget. */
export class Pool<Q, A> {
  readonly #dialect: Dialect<Q, A>
  readonly #budget: Budget
  readonly #open: (args: readonly string[], gitDirectory: string) => Promise<GitProcess>
  readonly #members = new Map<string, Member<Q, A>[]>()
  #closed = false

  constructor(
    dialect: Dialect<Q, A>,
    budget: Budget,
    open: (args: readonly string[], gitDirectory: string) => Promise<GitProcess>,
  ) {
    this.#dialect = dialect
    this.#budget = budget
    this.#open = open
  }

  /**
   * Asks one question of a process of the repository. When the process ends through no fault of the question, it is
   * asked again of a new one, twice at most. Throws GitError (`gone`, `timeout`, `too_large`, `busy`, `spawn`,
   * `closed`), and TypeError for a question that must not reach a process.
   */
  async ask(gitDirectory: string, question: Q): Promise<A> {
    for (let attempt = 1; ; attempt += 1) {
      if (this.#closed) throw new GitError('closed', 'The git room was closed')
      const { conversation, tenant } = this.#choose(gitDirectory)
      tenant.usedAt = performance.now()
      try {
        return await conversation.ask(question)
      } catch (error) {
        if (attempt === attempts || !isGitError(error, 'gone')) throw error
      }
    }
  }

  /** Replaces the repository's processes: those in use answer what they owe, and end. */
  recycle(gitDirectory: string): void {
    for (const { conversation } of this.#members.get(gitDirectory) ?? []) conversation.retire()
  }

  /** The processes of the repository that still take questions. */
  count(gitDirectory: string): number {
    return (this.#members.get(gitDirectory) ?? []).filter(({ conversation }) => conversation.isOpen).length
  }

  /** Ends every process; open questions fail with GitError `closed`. */
  async close(): Promise<void> {
    this.#closed = true
    const all = [...this.#members.values()].flat()
    for (const { conversation } of all)
      conversation.destroy(new GitError('closed', 'The git room was closed'))
    await Promise.all(all.map(({ conversation }) => conversation.ended))
  }

  #choose(gitDirectory: string): Member<Q, A> {
    const open = (this.#members.get(gitDirectory) ?? []).filter(({ conversation }) => conversation.isOpen)
    let best: Member<Q, A> | undefined
    for (const member of open) {
      if (best === undefined || member.conversation.load < best.conversation.load) best = member
    }
    if (best === undefined) return this.#start(gitDirectory)
    const mayGrow = open.length < this.#dialect.perRepository && !this.#budget.isFull
    return best.conversation.load > 0 && mayGrow ? this.#start(gitDirectory) : best
  }

  #start(gitDirectory: string): Member<Q, A> {
    const tenant: Tenant = {
      usedAt: performance.now(),
      isIdle: () => conversation.load === 0 && conversation.isOpen,
      evict: () => conversation.retire(),
    }
    const start = async (): Promise<GitProcess> => {
      await this.#budget.enter(tenant)
      return this.#open(this.#dialect.args, gitDirectory)
    }
    const conversation = new Conversation(this.#dialect, start, () => this.#budget.makeRoom())
    const member = { conversation, tenant }
    const members = this.#members.get(gitDirectory) ?? []
    members.push(member)
    this.#members.set(gitDirectory, members)
    void conversation.ended.then(() => this.#forget(gitDirectory, member))
    return member
  }

  #forget(gitDirectory: string, member: Member<Q, A>): void {
    this.#budget.leave(member.tenant)
    const left = (this.#members.get(gitDirectory) ?? []).filter((other) => other !== member)
    if (left.length === 0) this.#members.delete(gitDirectory)
    else this.#members.set(gitDirectory, left)
  }
}
