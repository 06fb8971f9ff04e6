import type { Bounds } from '../processes/bounds.ts'
import { GitError } from '../errors.ts'
import type { Spawner } from '../processes/spawner.ts'
import { MAX_MESSAGE_BYTES } from './commit.ts'

// Bounds for objects that come from outside.

const MB = 1024 * 1024
const BASE_BYTES = 512 * MB
/** Memory that git uses for each object while it unpacks. */
const OBJECT_BYTES = 256
const MOST_BYTES = 2_048 * MB
const CPU_SECONDS = 1_800
/** Objects that a process gets memory for where their number is not known before. */
const MANY_OBJECTS = 5_000_000

/** Bounds of a process that unpacks `count` objects, or packs them anew. */
export const receivingBounds = (count = MANY_OBJECTS): Bounds => ({
  memoryBytes: Math.min(BASE_BYTES + OBJECT_BYTES * count, MOST_BYTES),
  cpuSeconds: CPU_SECONDS,
})

/** Names, addresses, parents and signatures before a message. */
const HEADER_BYTES = MB / 8
/** Bytes of what is read as a whole; files are not. */
const MAX_BYTES: Readonly<Record<string, number>> = {
  commit: MAX_MESSAGE_BYTES + HEADER_BYTES,
  tag: MAX_MESSAGE_BYTES + HEADER_BYTES,
  tree: 32 * MB,
}

export interface Oversized {
  readonly type: string
  readonly size: number
}

const checkMs = 600_000

/** The first object of the object store that is larger than its type may be, by the sizes in their headers. */
export async function findOversized(
  spawner: Spawner,
  gitDirectory: string,
  environment: Readonly<Record<string, string>>,
): Promise<Oversized | undefined> {
  const format = '--batch-check=%(objecttype) %(objectsize)'
  const args = ['cat-file', '--batch-all-objects', '--unordered', '--buffer', format]
  const git = await spawner.open(args, gitDirectory, { environment, timeoutMs: checkMs })
  git.socket.end()
  let found: Oversized | undefined
  let rest = ''
  try {
    for await (const chunk of git.socket) {
      const lines = (rest + String(chunk)).split('\n')
      rest = lines.pop() ?? ''
      found ??= lines.map(readLine).find(({ type, size }) => size > (MAX_BYTES[type] ?? Infinity))
      if (found !== undefined) break
    }
    if (found !== undefined) git.kill()
    const ending = await git.ended
    if (found === undefined && ending.code !== 0)
      throw new GitError('exit', 'git did not list the objects', { args, ...ending })
    return found
  } finally {
    git.socket.destroy()
  }
}

function readLine(line: string): Oversized {
  const [type = '', size = '0'] = line.split(' ')
  return { type, size: Number(size) }
}
