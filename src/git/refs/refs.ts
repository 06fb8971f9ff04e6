import { readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from '../durable.ts'
import { GitError } from '../errors.ts'
import { isRefName, isSha } from '../names.ts'
import type { PackedRefsReader } from './packed_refs.ts'
import { createYield } from '../event_loop.ts'

/** One movement of a ref: `from` undefined means that it must not exist yet, `to` undefined that it goes. */
export interface RefMove {
  /** The full name, such as `refs/heads/main`. */
  readonly ref: string
  readonly from: string | undefined
  readonly to: string | undefined
}

/** A ref as it stands. `id` is what it holds, `commit` the commit behind it, which a tag of a tree or a blob lacks. */
export interface Ref {
  /** The full name, such as `refs/tags/v1`. */
  readonly name: string
  readonly id: string
  readonly commit: string | undefined
}

/** True for a full name of a ref that this room reads and writes: below `refs/`, in a namespace of its own. */
export function isFullRefName(name: string): boolean {
  return name.startsWith('refs/') && name.indexOf('/', 5) !== -1 && isRefName(name.slice(5))
}

/** The hash of the ref of exactly this name. Throws GitError `gone` for a file that holds no hash. */
export async function readRef(
  packed: PackedRefsReader,
  gitDirectory: string,
  name: string,
): Promise<string | undefined> {
  const loose = readLoose(gitDirectory, name)
  return loose ?? (await packed.read(gitDirectory)).ids.get(name)
}

/** The hash in the ref's own file, if it has one. */
function readLoose(gitDirectory: string, name: string): string | undefined {
  let text: string
  try {
    text = readFileSync(join(gitDirectory, name), 'latin1')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG')) return undefined
    throw error
  }
  const id = text.trimEnd()
  // No symbolic ref is ever made below refs/, neither here nor by a push.
  if (!isSha(id)) throw new GitError('gone', `The file of ${name} holds no hash`)
  return id
}

/** All refs below the directory `prefix` (with its slash), as [name, hash] in the order of the names' bytes. */
export async function readRefs(
  packed: PackedRefsReader,
  gitDirectory: string,
  prefix: string,
): Promise<[string, string][]> {
  // Loose before packed: what is packed in between is then seen twice and not missed.
  const names = await looseNames(gitDirectory, prefix)
  const found = new Map<string, string>()
  const rest = createYield()
  for (const name of names) {
    const id = readLoose(gitDirectory, name)
    if (id !== undefined) found.set(name, id)
    await rest()
  }
  const { ids } = await packed.read(gitDirectory)
  for (const [name, id] of ids) if (name.startsWith(prefix) && !found.has(name)) found.set(name, id)
  return [...found].toSorted(([a], [b]) => compareNames(a, b))
}

async function looseNames(gitDirectory: string, prefix: string): Promise<string[]> {
  try {
    const entries = await readdir(join(gitDirectory, prefix), { recursive: true, withFileTypes: true })
    const skip = gitDirectory.length + 1
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(skip))
      .filter(isFullRefName)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

const surrogate = /[\ud800-\udfff]/

/** The order of UTF-8, which differs from that of strings only beyond the first 65,536 characters. */
export function compareNames(a: string, b: string): number {
  if (surrogate.test(a) || surrogate.test(b)) return Buffer.compare(Buffer.from(a), Buffer.from(b))
  return a < b ? -1 : a > b ? 1 : 0
}
