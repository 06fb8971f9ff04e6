import {
  accessSync,
  constants,
  lstatSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The port is only a part of the socket's name; nothing listens on TCP. */
export const port = 5432

/** Where clients find the server's socket. */
export interface SocketDirectory {
  readonly path: string
  remove(): void
}

/** The kernel's name of a socket, without the NUL. */
const longest = process.platform === 'linux' ? 107 : 103
const prefix = 'guildhall-pg-'
const link = 'socket'

function fits(directory: string): boolean {
  return Buffer.byteLength(join(directory, `.s.PGSQL.${port}`)) <= longest
}

/** System folders first: temporary ones are swept by age under a server that runs for weeks. */
function shortPlaces(): string[] {
  const uid = process.getuid?.() ?? 0
  const system = uid === 0 ? '/run' : `/run/user/${uid}`
  return [system, tmpdir(), '/tmp'].filter((place) => {
    try {
      accessSync(place, constants.W_OK | constants.X_OK)
      return fits(join(place, `${prefix}XXXXXX`, link))
    } catch {
      return false
    }
  })
}

function leadsTo(directory: string, cluster: string): boolean {
  try {
    // A directory of another user in a shared place proves nothing, even when its link says so.
    return lstatSync(directory).uid === process.getuid?.() && readlinkSync(join(directory, link)) === cluster
  } catch {
    return false
  }
}

function removeStale(place: string, cluster: string): void {
  for (const name of readdirSync(place)) {
    const directory = join(place, name)
    if (name.startsWith(prefix) && leadsTo(directory, cluster))
      rmSync(directory, { recursive: true, force: true })
  }
}

/** Where a server that runs on `cluster` can be reached; undefined when its short link is nowhere to be found. */
export function findSocketDirectory(cluster: string): string | undefined {
  if (fits(cluster)) return cluster
  const links = shortPlaces().flatMap((place) =>
    readdirSync(place).flatMap((name) => (name.startsWith(prefix) ? [join(place, name)] : [])),
  )
  const found = links.find((directory) => leadsTo(directory, cluster))
  return found && join(found, link)
}

/**
 * The server listens in its cluster directory, which is private to it. Clients go there by its path, or when
 * that is longer than a socket's name may be, through a link in a private directory with a short one. Throws
 * when no place for such a link can be written.
 */
export function openSocketDirectory(cluster: string): SocketDirectory {
  if (fits(cluster)) return { path: cluster, remove: () => {} }
  const places = shortPlaces()
  for (const place of places) removeStale(place, cluster)
  const [place] = places
  if (place === undefined) {
    throw new Error(
      `The path of the data directory is too long for a socket (${cluster}), and neither ${tmpdir()} nor /tmp ` +
        'can be written. Set GUILDHALL_DATA_DIR to a shorter path.',
    )
  }
  const directory = mkdtempSync(join(place, prefix))
  symlinkSync(cluster, join(directory, link))
  return {
    path: join(directory, link),
    remove: () => rmSync(directory, { recursive: true, force: true }),
  }
}
