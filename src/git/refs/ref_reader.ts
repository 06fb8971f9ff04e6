import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'
import { hasCode } from '../durable.ts'
import { isSha } from '../names.ts'
import { lruBound } from '../lru_bound.ts'
import { stampOf, type PackedRefsReader } from './packed_refs.ts'

interface Known {
  stamp: string
  text: string
}

const files = 20_000

/** Reads single refs without a process, and each file again only when it has changed. */
export class RefReader {
  readonly #packed: PackedRefsReader
  readonly #known = new LRUCache<string, Known>(lruBound(files))

  constructor(packed: PackedRefsReader) {
    this.#packed = packed
  }

  /**
   * The hash of the ref of exactly this full name, or of HEAD's target; undefined without one, or without a repository.
   * A file without a hash counts as none. Throws errors of the file system.
   */
  async read(gitDirectory: string, name: string): Promise<string | undefined> {
    const text = this.#text(join(gitDirectory, name))?.trimEnd()
    if (text !== undefined && isSha(text)) return text
    if (name !== 'HEAD') return (await this.#packed.read(gitDirectory)).ids.get(name)
    const branch = /^ref:\s*(refs\/heads\/.+)$/.exec(text ?? '')?.[1]
    return branch === undefined ? undefined : this.read(gitDirectory, branch)
  }

  /**
   * Drops what is remembered of one ref. Where clocks of files tick slowly, one that moved twice within a tick can look
   * as it did before; so whoever moves it says so.
   */
  forget(gitDirectory: string, name: string): void {
    const known = this.#known.get(join(gitDirectory, name))
    // To delete the only one would cost the cache as much as to be made anew.
    if (known !== undefined) known.stamp = ''
  }

  #text(path: string): string | undefined {
    try {
      const stamp = stampOf(path)
      if (stamp === undefined) return undefined
      const known = this.#known.get(path)
      if (known?.stamp === stamp) return known.text
      const text = readFileSync(path, 'utf8')
      this.#known.set(path, { stamp, text })
      return text
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG')) return undefined
      throw error
    }
  }
}
