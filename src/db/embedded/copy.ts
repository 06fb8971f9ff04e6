import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'

const newPrefix = '.new-'

interface Link {
  readonly source: string
  readonly target: string
}

/** npm cannot pack symbolic links: the package lists them, and its install script, which may not run, makes them. */
function listedLinks(native: string): Link[] {
  const list = join(native, 'pg-symlinks.json')
  const parsed: unknown = existsSync(list) ? JSON.parse(readFileSync(list, 'utf8')) : []
  if (!Array.isArray(parsed)) throw new Error(`${list} is not a list of links.`)
  return parsed.flatMap((entry: unknown) => {
    if (typeof entry !== 'object' || entry === null || !('source' in entry) || !('target' in entry)) return []
    const { source, target } = entry
    if (typeof source !== 'string' || typeof target !== 'string') return []
    return [{ source: relative('native', source), target: relative('native', target) }]
  })
}

/** Whether the packaged binaries can find their libraries where they are. */
export function hasItsLinks(native: string): boolean {
  return listedLinks(native).every(({ target }) => existsSync(join(native, target)))
}

function copyFile(source: string, target: string): void {
  const { mode } = statSync(source)
  // A second name for the same file costs nothing, but serves another uid only when everybody may read it.
  if ((mode & 0o444) === 0o444) {
    try {
      linkSync(source, target)
      return
    } catch {
      // Another file system, one without hard links, or a file that is not ours to link.
    }
  }
  copyFileSync(source, target, constants.COPYFILE_FICLONE)
  chmodSync(target, (mode & 0o100) === 0 ? 0o644 : 0o755)
}

function copyTree(source: string, target: string): void {
  mkdirSync(target, { recursive: true })
  // By hand: under a umask of 077 the server's uid could not look inside.
  chmodSync(target, 0o755)
  for (const entry of readdirSync(source, { withFileTypes: true })) {
    const from = join(source, entry.name)
    const to = join(target, entry.name)
    if (entry.isDirectory()) copyTree(from, to)
    else if (entry.isFile() && !entry.name.endsWith('.a')) copyFile(from, to)
  }
}

/** A place that somebody else may write to could hold somebody else's program under our name. */
function isOurs(place: string): boolean {
  const stat = lstatSync(place)
  return stat.isDirectory() && stat.uid === process.getuid?.() && (stat.mode & 0o022) === 0
}

/** Leftovers of a killed copier: after an hour no copy is in progress. */
function removeUnfinished(place: string): void {
  for (const entry of readdirSync(place)) {
    const unfinished = join(place, entry)
    const age = Date.now() - statSync(unfinished).mtimeMs
    if (entry.startsWith(newPrefix) && age > 3_600_000) rmSync(unfinished, { recursive: true, force: true })
  }
}

/**
 * Puts the packaged binaries, with their links, into `place/name` unless they are there, and returns that
 * directory; a copy that exists is complete. Throws when the place cannot be written or is not ours alone.
 */
export function copyBinaries(native: string, place: string, name: string): string {
  const made = join(place, name)
  if (!existsSync(place)) {
    mkdirSync(place, { recursive: true })
    chmodSync(place, 0o755)
  }
  if (!isOurs(place)) throw new Error(`${place} can be written by others`)
  if (existsSync(made)) return made
  removeUnfinished(place)
  const making = mkdtempSync(join(place, newPrefix))
  try {
    for (const folder of ['bin', 'lib', 'share']) copyTree(join(native, folder), join(making, folder))
    for (const { source, target } of listedLinks(native)) {
      const link = join(making, target)
      rmSync(link, { force: true })
      symlinkSync(relative(dirname(target), source), link)
    }
    chmodSync(making, 0o755)
    renameSync(making, made)
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    // Another Guildhall, with a data directory of its own, made the same copy meanwhile.
    if (!existsSync(made)) throw error
  }
  return made
}

/** Removes copies in `place` that an update within major version `major` has replaced by `name`. */
export function removeOldCopies(place: string, name: string, major: number): void {
  if (!existsSync(place)) return
  for (const entry of readdirSync(place)) {
    if (entry.startsWith(`${major}.`) && entry !== name)
      rmSync(join(place, entry), { recursive: true, force: true })
  }
}
