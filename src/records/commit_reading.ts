import type { Commit } from '../git/objects/commit.ts'
import type { Repository } from '../git/repository.ts'

/** Characters of messages that one answer holds whole. */
const MAX_MESSAGES_LENGTH = 4 * 1024 * 1024
/** Characters of a message that never count, and of what is left of one that is cut. */
const SHORT_MESSAGE = 1_000
const READ_AT_ONCE = 20

/**
 * Reads the commits of one answer, in the order of `shas`; missing ones are left out. Once their messages pass 4 million
 * characters, further long ones are cut to their first line, of at most 1,000 characters: a page holds what its size
 * says and not what was pushed.
 */
export async function readCommits(
  repository: Pick<Repository, 'commit'>,
  shas: readonly string[],
): Promise<Commit[]> {
  const commits: Commit[] = []
  let left = MAX_MESSAGES_LENGTH
  for (let at = 0; at < shas.length; at += READ_AT_ONCE) {
    const some = await Promise.all(shas.slice(at, at + READ_AT_ONCE).map((sha) => repository.commit(sha)))
    for (const commit of some) {
      if (commit === undefined) continue
      const { length } = commit.message
      if (length > SHORT_MESSAGE && length > left) commits.push({ ...commit, message: cut(commit.message) })
      else {
        if (length > SHORT_MESSAGE) left -= length
        commits.push(commit)
      }
    }
  }
  return commits
}

/** The first line, copied: a slice would keep the whole message in memory. */
function cut(message: string): string {
  const title = message.trimStart().slice(0, SHORT_MESSAGE).split('\n', 1)[0] ?? ''
  return Buffer.from(title).toString()
}
