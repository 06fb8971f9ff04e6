import { GitError } from '../errors.ts'
import { createYield } from '../event_loop.ts'

/** One line of a tree object. `key` holds the bytes of the name, a character each; `mode` has no leading zero. */
export interface TreeLine {
  readonly mode: string
  readonly key: string
  readonly id: string
}

/** The tree without entries, which git knows whether it is stored or not. */
export const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
/** Mode of a directory, as trees store it. */
export const directoryMode = '40000'
/** Mode of a submodule. */
export const linkMode = '160000'
/** Mode of a symbolic link. */
export const symlinkMode = '120000'

/** Trees of more bytes are parsed in slices: some 2,000 entries. */
const SLICED_BYTES = 64 * 1024
const LINES_PER_CHECK = 256

/**
 * Parses a tree object. `view` may be overwritten as soon as this returns its promise. Large trees yield to the event
 * loop. Throws GitError `gone` for bytes that are no tree.
 */
export async function parseTree(view: Buffer): Promise<TreeLine[]> {
  const isLarge = view.length > SLICED_BYTES
  const bytes = isLarge ? Buffer.from(view) : view
  const rest = createYield()
  const lines: TreeLine[] = []
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(32, at)
    const nul = bytes.indexOf(0, space)
    if (space === -1 || nul === -1 || nul + 21 > bytes.length) throw new GitError('gone', 'A tree is broken')
    lines.push({
      // Old tools wrote directories as 040000.
      mode: bytes.toString('latin1', bytes[at] === 48 ? at + 1 : at, space),
      key: bytes.toString('latin1', space + 1, nul),
      id: bytes.toString('hex', nul + 1, nul + 21),
    })
    at = nul + 21
    if (isLarge && lines.length % LINES_PER_CHECK === 0) await rest()
  }
  return lines
}

/** Lines in git's order: directories as if their names ended with a slash. */
export function sortLines(lines: readonly TreeLine[]): TreeLine[] {
  const sortable = lines.map((line) => ({
    line,
    sort: line.mode === directoryMode ? `${line.key}/` : line.key,
  }))
  // The characters of a key are its bytes, so the order of strings is the order of bytes.
  sortable.sort((a, b) => (a.sort < b.sort ? -1 : a.sort > b.sort ? 1 : 0))
  return sortable.map(({ line }) => line)
}

/** The bytes of a tree object of sorted lines. */
export function treeBytes(lines: readonly TreeLine[]): Buffer {
  const size = lines.reduce((sum, { mode, key }) => sum + mode.length + key.length + 22, 0)
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const { mode, key, id } of lines) {
    at += bytes.write(`${mode} ${key}\0`, at, 'latin1')
    at += bytes.write(id, at, 'hex')
  }
  return bytes
}

/** The bytes of a name, a character each. */
export function keyOf(name: string): string {
  return Buffer.from(name).toString('latin1')
}

/** The name that the bytes of a key spell. */
export function textOf(key: string): string {
  return Buffer.from(key, 'latin1').toString()
}
