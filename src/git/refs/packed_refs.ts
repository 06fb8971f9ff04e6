import { closeSync, statSync } from 'node:fs'
import { readFile, rename, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LRUCache } from 'lru-cache'
import { hasCode, syncDirectory, syncFile, writeAll } from '../durable.ts'
import { GitError } from '../errors.ts'
import type { Janitor } from '../care/janitor.ts'
import { isSha } from '../names.ts'

/** The refs of a repository that share one file: full names to hashes, in the order of the file. */
export interface PackedRefs {
  readonly ids: ReadonlyMap<string, string>
  /** Full names of annotated tags to what they lead to, where the file tells. */
  readonly peeled: ReadonlyMap<string, string>
  /** All names in the order of their code units. */
  readonly names: readonly string[]
}

/** Within one tick of the file system's clock a file may be replaced twice and look the same. */
const racyMs = 50n

/**
 * Tells one version of a file from every other: refs are renamed into place, so each is another file. What is so young
 * that it cannot be told is unlike itself. Undefined where there is no file. It does not wait: every request asks, and
 * to hand the question to a thread takes twenty times as long.
 */
export function stampOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  if (found === undefined || !found.isFile()) return undefined
  const young = BigInt(Date.now()) - found.ctimeMs < racyMs
  return `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}${young ? performance.now() : ''}`
}

interface Known extends PackedRefs {
  stamp: string
}

const cacheBytes = 16 * 1024 * 1024
const lockWaitMs = 10_000
const retryMs = 100
const nothing: PackedRefs = { ids: new Map(), peeled: new Map(), names: [] }
const file = 'packed-refs'

/** Reads `packed-refs` files, each again only when it has changed. */
export class PackedRefsReader {
  readonly #known = new LRUCache<string, Known>({
    maxSize: cacheBytes,
    sizeCalculation: (known) => 500 + 200 * known.names.length,
  })

  /** The packed refs as they stand; none where there is no such file. */
  async read(gitDirectory: string): Promise<PackedRefs> {
    const path = join(gitDirectory, file)
    try {
      const stamp = stampOf(path)
      if (stamp === undefined) return nothing
      const known = this.#known.get(gitDirectory)
      if (known?.stamp === stamp) return known
      const fresh = { ...parse(await readFile(path, 'utf8')), stamp }
      this.#known.set(gitDirectory, fresh)
      return fresh
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return nothing
      throw error
    }
  }
}

function parse(text: string): PackedRefs {
  const ids = new Map<string, string>()
  const peeled = new Map<string, string>()
  let name = ''
  for (let at = 0; at < text.length;) {
    const feed = text.indexOf('\n', at)
    const end = feed === -1 ? text.length : feed
    const id = text.slice(at, at + 40)
    if (text[at] === '^') peeled.set(name, text.slice(at + 1, end))
    else if (text[at + 40] === ' ' && isSha(id)) {
      name = text.slice(at + 41, end)
      ids.set(name, id)
    }
    at = end + 1
  }
  return { ids, peeled, names: [...ids.keys()].toSorted() }
}

/** True when there is a packed ref below the directory `name`. */
export function hasPackedBelow({ names }: PackedRefs, name: string): boolean {
  const prefix = `${name}/`
  let [from, to] = [0, names.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((names[middle] ?? '') < prefix) from = middle + 1
    else to = middle
  }
  return names[from]?.startsWith(prefix) === true
}

/** A new version of the file, durable beside it and not yet in its place. While it stands nobody else can write one. */
export interface PackedRewrite {
  /** Puts it into place, durably. */
  place(): Promise<void>
  /** Throws it away, unless it is in place. */
  abandon(): Promise<void>
}

/** Prepares the file without some refs. Throws GitError `busy` when another program holds the file for 10 s. */
export async function withoutPacked(
  gitDirectory: string,
  gone: ReadonlySet<string>,
  janitor: Janitor,
): Promise<PackedRewrite> {
  const path = join(gitDirectory, file)
  const lock = `${path}.lock`
  const opened = await openLock(gitDirectory, lock, janitor)
  let stands = true
  const abandon = async (): Promise<void> => {
    if (stands) await unlink(lock).catch(() => undefined)
    stands = false
    janitor.closed(lock)
  }
  try {
    const lines = (await readFile(path, 'utf8')).split('\n')
    let dropping = false
    const kept = lines.filter((line) => {
      // A line that starts with `^` belongs to the tag above it.
      if (!line.startsWith('^')) dropping = gone.has(line.slice(41))
      return !dropping
    })
    await writeAll(opened, kept.join('\n'))
    await syncFile(opened)
  } catch (error) {
    await abandon()
    throw error
  } finally {
    closeSync(opened)
  }
  const place = async (): Promise<void> => {
    await rename(lock, path)
    stands = false
    await syncDirectory(gitDirectory)
  }
  return { place, abandon }
}

async function openLock(gitDirectory: string, lock: string, janitor: Janitor): Promise<number> {
  const until = performance.now() + lockWaitMs
  for (;;) {
    try {
      return janitor.openLock(lock)
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
      if (await janitor.removeDeadLock(gitDirectory, lock)) continue
      if (performance.now() > until) throw new GitError('busy', 'Another program holds packed-refs.lock')
      await sleep(retryMs)
    }
  }
}
