import { readdir } from 'node:fs/promises'
import { join, relative, resolve, sep } from 'node:path'
import { readPattern } from './patterns.ts'

/** The most files of an archive. */
const MAX_FILES = 200_000

export interface Found {
  /** Below the directory, with slashes. */
  readonly path: string
  readonly kind: 'file' | 'directory' | 'link'
}

/** Files, links and directories below `root`, sorted; links are not followed, `.git` at the top is passed over. */
async function* walk(root: string, below = ''): AsyncGenerator<Found> {
  const entries = await readdir(join(root, below), { withFileTypes: true })
  for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const path = below === '' ? entry.name : `${below}/${entry.name}`
    if (path === '.git') continue
    if (entry.isDirectory()) {
      yield { path, kind: 'directory' }
      yield* walk(root, path)
    } else if (entry.isFile()) yield { path, kind: 'file' }
    else if (entry.isSymbolicLink()) yield { path, kind: 'link' }
  }
}

/** A pattern as one below `root`; undefined where it leads out of it. */
function within(root: string, pattern: string): string | undefined {
  const path = relative(root, resolve(root, pattern))
  return path === '..' || path.startsWith(`..${sep}`) ? undefined : path === '' ? '.' : path
}

export interface Selection {
  readonly files: readonly Found[]
  /** One line for each pattern: what it found, or that it found nothing. */
  readonly notes: readonly string[]
}

export interface Wanted {
  readonly paths: readonly string[]
  readonly exclude: readonly string[]
  /** Paths that git does not know. */
  readonly untracked: readonly string[]
}

/** Files of a directory that go into an archive. */
export async function selectFiles(root: string, { paths, exclude, untracked }: Wanted): Promise<Selection> {
  const notes: string[] = []
  const wanted = paths.flatMap((path) => {
    const inside = within(root, path)
    if (inside === undefined) {
      notes.push(`WARNING: ${path}: the path is outside of the project directory and is passed over`)
      return []
    }
    return [{ path, matches: readPattern(inside), count: 0 }]
  })
  const unwanted = exclude.flatMap((path) => {
    const inside = within(root, path)
    return inside === undefined ? [] : [readPattern(inside)]
  })
  const isUntracked = new Set(untracked)
  const files: Found[] = []
  for await (const found of walk(root)) {
    const hits = wanted.filter(({ matches }) => matches(found.path))
    for (const hit of hits) hit.count += 1
    if (hits.length === 0 && !isUntracked.has(found.path)) continue
    if (unwanted.some((matches) => matches(found.path))) continue
    files.push(found)
    if (files.length > MAX_FILES) throw new Error(`an archive holds at most ${MAX_FILES} files`)
  }
  for (const { path, count } of wanted)
    notes.push(
      count === 0
        ? `WARNING: ${path}: no matching files. Ensure that the artifact path is relative to the working directory`
        : `${path}: found ${count} matching artifact files and directories`,
    )
  if (untracked.length > 0) notes.push(`untracked: found ${untracked.length} files`)
  return { files, notes }
}
