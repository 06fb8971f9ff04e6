const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
const idBytes = 20

/**
 * The entry called `name` in the content of a tree object, as mode and hash; undefined when there is none, and for an
 * empty directory, in which git sees nothing either. A tree cut short holds what comes before the cut.
 */
export function entryIn(bytes: Buffer, name: Buffer): string | undefined {
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(32, at)
    const end = bytes.indexOf(0, space + 1)
    if (space === -1 || end === -1 || end + 1 + idBytes > bytes.length) return undefined
    if (end - space - 1 === name.length && bytes.compare(name, 0, name.length, space + 1, end) === 0) {
      const id = bytes.toString('hex', end + 1, end + 1 + idBytes)
      return id === emptyTree ? undefined : `${plainMode(bytes.toString('latin1', at, space))} ${id}`
    }
    at = end + 1 + idBytes
  }
  return undefined
}

/** Of a mode only this matters to git: kind, and whether a file may be executed. */
function plainMode(octal: string): string {
  const mode = Number.parseInt(octal, 8)
  const kind = mode & 0o170000
  if (kind === 0o100000) return (mode & 0o100) === 0 ? '100644' : '100755'
  if (kind === 0o120000) return '120000'
  return kind === 0o040000 ? '40000' : '160000'
}
