import { GitError } from '../errors.ts'

/** A long-lived process as the budget sees it. */
export interface Tenant {
  /** Milliseconds on the monotonic clock at the last question. */
  usedAt: number
  /** True when nobody waits for an answer from it. */
  isIdle(): boolean
  /** Makes an idle tenant leave; `leave` is called once it has. */
  evict(): void
}

const waitMs = 10_000

/** Bounds the number of long-lived processes over all repositories: the least recently used idle one makes room. */
export class Budget {
  readonly #max: number
  readonly #idleMs: number
  readonly #tenants = new Set<Tenant>()
  readonly #leaving = new Set<Tenant>()
  readonly #waiting = new Set<() => void>()
  readonly #sweep: NodeJS.Timeout

  constructor(max: number, idleMs: number) {
    this.#max = max
    this.#idleMs = idleMs
    this.#sweep = setInterval(() => this.#evictStale(), Math.max(50, idleMs / 4))
    this.#sweep.unref()
  }

  /** How many places are taken, those of processes that are just ending included. */
  get taken(): number {
    return this.#tenants.size
  }

  /** True when a new process would have to wait for another to end. */
  get isFull(): boolean {
    return this.#tenants.size >= this.#max
  }

  /** Takes a place for `tenant`, which must call `leave` once its process has ended. Throws GitError `busy` after 10 s. */
  async enter(tenant: Tenant): Promise<void> {
    if (!this.isFull && this.#waiting.size === 0) {
      this.#tenants.add(tenant)
      return
    }
    await new Promise<void>((resolve, reject) => {
      const grant = (): void => {
        clearTimeout(clock)
        this.#waiting.delete(grant)
        this.#tenants.add(tenant)
        resolve()
      }
      const clock = setTimeout(() => {
        this.#waiting.delete(grant)
        reject(new GitError('busy', `All ${this.#max} git processes were busy for ${waitMs} ms`))
      }, waitMs)
      this.#waiting.add(grant)
      this.makeRoom()
    })
  }

  /** Gives the place of an ended process back. */
  leave(tenant: Tenant): void {
    this.#tenants.delete(tenant)
    this.#leaving.delete(tenant)
    const [next] = this.#waiting
    if (next !== undefined && !this.isFull) next()
  }

  /** Evicts one idle tenant for each who waits; to be called when a tenant falls idle. */
  makeRoom(): void {
    while (this.#leaving.size < this.#waiting.size) {
      const oldest = this.#idle().reduce<Tenant | undefined>(
        (found, tenant) => (found === undefined || tenant.usedAt < found.usedAt ? tenant : found),
        undefined,
      )
      if (oldest === undefined) return
      this.#evict(oldest)
    }
  }

  /** Stops the clock that ends unused processes. */
  close(): void {
    clearInterval(this.#sweep)
  }

  #evictStale(): void {
    const limit = performance.now() - this.#idleMs
    for (const tenant of this.#idle()) if (tenant.usedAt < limit) this.#evict(tenant)
  }

  #evict(tenant: Tenant): void {
    this.#leaving.add(tenant)
    tenant.evict()
  }

  #idle(): Tenant[] {
    return [...this.#tenants].filter((tenant) => !this.#leaving.has(tenant) && tenant.isIdle())
  }
}
