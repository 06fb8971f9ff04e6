import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** The directories of one job; they go with it. */
export interface Workplace {
  readonly root: string
  readonly project: string
  /** Scripts and file variables: beside the project, never inside. */
  readonly temporary: string
  readonly clear: () => Promise<void>
}

export async function openWorkplace(builds: string, jobId: number): Promise<Workplace> {
  const root = await mkdtemp(join(builds, `job-${jobId}-`))
  const [project, temporary] = [join(root, 'project'), join(root, 'tmp')]
  await mkdir(project)
  await mkdir(temporary, { mode: 0o700 })
  return { root, project, temporary, clear: () => clear(root) }
}

async function clear(root: string): Promise<void> {
  const remove = (): Promise<void> => rm(root, { recursive: true, force: true, maxRetries: 3 })
  await remove().catch(async () => {
    // A job may have left directories that even their owner cannot read.
    spawnSync('chmod', ['-R', 'u+rwX', root])
    await remove()
  })
}

/** Writes a file that only the job's user reads. */
export async function writePrivate(path: string, content: string): Promise<string> {
  await writeFile(path, content, { mode: 0o600 })
  return path
}

/** The name of this machine's runner process at the server: the same after each start. */
export function systemIdOf(builds: string): string {
  const machine = ((): string => {
    try {
      return readFileSync('/etc/machine-id', 'utf8')
    } catch {
      return hostname()
    }
  })()
  return `s_${createHash('sha256').update(`${machine}\n${hostname()}\n${builds}`).digest('hex').slice(0, 12)}`
}
