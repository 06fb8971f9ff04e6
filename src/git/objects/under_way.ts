/** Commits that are being stored and that git cannot read yet, by repository. */
export class UnderWay {
  readonly #commits = new Map<string, Promise<void>>()

  /** Notes a commit until it is `stored`. If that fails, whoever waits next is told. */
  add(gitDirectory: string, id: string, stored: Promise<void>): void {
    const key = `${gitDirectory}\0${id}`
    this.#commits.set(key, stored)
    stored.then(
      () => this.#drop(key, stored),
      () => undefined,
    )
  }

  /** True for a commit that is not stored yet; waiting tells whether it will be. */
  has(gitDirectory: string, id: string): boolean {
    return this.#commits.has(`${gitDirectory}\0${id}`)
  }

  /** Waits until git can read a commit if it is being stored. Throws what storing it threw. */
  async settle(gitDirectory: string, id: string | undefined): Promise<void> {
    const key = `${gitDirectory}\0${id}`
    const stored = this.#commits.get(key)
    if (stored === undefined) return
    try {
      await stored
    } finally {
      this.#drop(key, stored)
    }
  }

  /** The same commit may have been begun once more. */
  #drop(key: string, stored: Promise<void>): void {
    if (this.#commits.get(key) === stored) this.#commits.delete(key)
  }
}
