import { AsyncLocalStorage } from 'node:async_hooks'
import type { Opened } from '../../src/open.ts'

/** The transaction that the running code is part of. */
const transaction = new AsyncLocalStorage<{ open: boolean }>()

/** Runs what a test asks of a server as if no transaction of the test were open. */
export const outside = <Result>(work: () => Result): Result => transaction.exit(work)

/** Makes every call of git inside an open transaction fail: a transaction waits neither for git nor for a disk. */
export function watchTransactions({ instance }: Opened): void {
  const { db, git } = instance
  const watched = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get: (_, name) => {
        const member: unknown = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        return (...given: unknown[]) => {
          if (transaction.getStore()?.open === true)
            throw new Error(`git is asked for ${String(name)} inside a transaction`)
          return member.apply(target, given) as unknown
        }
      },
    })
  Object.assign(instance, {
    db: {
      ...db,
      transaction: (work, options) => {
        const own = { open: true }
        return db
          .transaction((tx) => transaction.run(own, () => work(tx)), options)
          .finally(() => (own.open = false))
      },
    } satisfies typeof db,
    git: { ...git, repository: (path) => watched(git.repository(path)) } satisfies typeof git,
  })
}
