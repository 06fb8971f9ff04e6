import { readFile, readdir, readlink } from 'node:fs/promises'

/** Commands that take no lock and write no object, of which long-lived ones may be there at any time. */
const readers = new Set([
  'cat-file',
  'diff-tree',
  'merge-tree',
  'rev-list',
  'for-each-ref',
  'log',
  'upload-pack',
])

/** The processes of this machine that may be writing into repositories, as what tells where each works. */
export type WorkingProcesses = readonly string[]

/** Looks at all processes; undefined where the system does not show them. */
export async function workingProcesses(): Promise<WorkingProcesses | undefined> {
  if (process.platform !== 'linux') return undefined
  try {
    const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    if (!ids.includes(String(process.pid))) return undefined
    const found: string[] = []
    for (const id of ids) {
      if (id === String(process.pid)) continue
      const place = await placeOf(id)
      if (place !== undefined) found.push(place)
    }
    return found
  } catch {
    return undefined
  }
}

/** True when one of the processes names the directory, or works in it. */
export function isWorkedIn(processes: WorkingProcesses, directory: string): boolean {
  return processes.some((place) => place.includes(directory))
}

async function placeOf(id: string): Promise<string | undefined> {
  try {
    const args = (await readFile(`/proc/${id}/cmdline`, 'utf8')).split('\0')
    if (!/(?:^|\/)git(?:-[a-z-]+)?$/.test(args[0] ?? '') && !args.some((part) => part === 'git'))
      return undefined
    if (args.some((part) => readers.has(part))) return undefined
    const cwd = await readlink(`/proc/${id}/cwd`).catch(() => '')
    return [...args, cwd].join('\0')
  } catch {
    // It ended meanwhile.
    return undefined
  }
}
