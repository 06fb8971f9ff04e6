import type { Commit } from '../../git/objects/commit.ts'
import type { Repository } from '../../git/repository.ts'

/** Characters of messages that one answer holds whole. */
const MAX_MESSAGES_LENGTH = 4 * 1024 * 1024
/** Characters of a message that never count, and of what is left of one that is cut. */
const SHORT_MESSAGE = 1_000
/** Commits, each with a message of a megabyte at most, that are read at once. */
const READ_AT_ONCE = 20

type Source = Pick<Repository, 'commit'>
/** Cuts a message to its first line, of at most 1,000 characters, once those before it take too much. */
export type MessageBudget = (message: string) => string

/** A budget of 4 million characters for the messages of one answer: it holds what its size says, not what was pushed. */
export function messageBudget(): MessageBudget {
  let left = MAX_MESSAGES_LENGTH
  return (message) => {
    const { length } = message
    if (length <= SHORT_MESSAGE) return message
    if (length > left) return firstLine(message)
    left -= length
    return message
  }
}

/** The commits of one answer in the order of `shas`, undefined where one is missing, their messages within the budget. */
export async function readEach(
  repository: Source,
  shas: readonly string[],
  within: MessageBudget = messageBudget(),
): Promise<(Commit | undefined)[]> {
  const commits: (Commit | undefined)[] = []
  for (let at = 0; at < shas.length; at += READ_AT_ONCE) {
    const some = await Promise.all(shas.slice(at, at + READ_AT_ONCE).map((sha) => repository.commit(sha)))
    for (const commit of some) {
      const message = commit && within(commit.message)
      commits.push(
        commit === undefined || message === commit.message || message === undefined
          ? commit
          : { ...commit, message },
      )
    }
  }
  return commits
}

/** The same without those that are missing. */
export async function readCommits(repository: Source, shas: readonly string[]): Promise<Commit[]> {
  return (await readEach(repository, shas)).filter((commit) => commit !== undefined)
}

/** The first line, copied: a slice would keep the whole message in memory. */
function firstLine(message: string): string {
  const title = message.trimStart().slice(0, SHORT_MESSAGE).split('\n', 1)[0] ?? ''
  return Buffer.from(title).toString()
}
