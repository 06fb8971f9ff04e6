import { execFile } from 'node:child_process'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Config } from '../config.ts'
import { repositoryPath } from '../core/places/projects.ts'
import type { Client } from '../db/client.ts'
import { openGit } from '../git/git.ts'
import { fault, messageOf, ok, warning, type Finding } from './finding.ts'

/** Milliseconds that the check of one repository may take, and after which a lock is that of a dead process. */
const FSCK_MS = 60_000
const OLD_LOCK_MS = 600_000

interface Checking {
  readonly config: Config
  readonly client: Client
  /** Repositories to check; those of other projects are only looked for. */
  readonly sample: number
}

/** Checks that repositories are there and whole, and looks for locks that dead processes left. */
export async function checkRepositories(checking: Checking): Promise<Finding[]> {
  const root = join(checking.config.dataDir, 'repositories')
  return Promise.all([checkSample(root, checking), checkGitLocks(root, checking.config)])
}

async function checkSample(root: string, { client, config, sample }: Checking): Promise<Finding> {
  const { rows } = await client.pool.query<{ id: number; has_commits: boolean }>(
    'select id::integer, not empty_repo as has_commits from projects order by random()',
  )
  const faults: string[] = []
  const whole = rows.filter(({ has_commits }) => has_commits)
  for (const { id } of whole)
    if (!(await isThere(join(root, repositoryPath(id), 'HEAD'))))
      faults.push(`that of project ${id} is missing`)
  const sampled = whole.slice(0, sample)
  for (const { id } of sampled) {
    const directory = join(root, repositoryPath(id))
    if (!(await isThere(join(directory, 'HEAD')))) continue
    const said = await fsck(directory, config.path)
    if (said !== undefined) faults.push(`that of project ${id}: ${said}`)
  }
  if (faults.length > 0) return fault('repositories', `${faults.join('; ')}; restore from a backup`)
  return ok('repositories', `all ${whole.length} are there; ${sampled.length} of them, by chance, are whole`)
}

const isThere = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

/** The first line that `git fsck` complains with; undefined for a repository that is whole. */
async function fsck(directory: string, path: string): Promise<string | undefined> {
  const options = { cwd: directory, env: { PATH: path, LC_ALL: 'C' }, timeout: FSCK_MS }
  const args = ['-c', 'safe.directory=*', 'fsck', '--full', '--no-dangling', '--no-progress']
  return promisify(execFile)('git', args, options).then(
    () => undefined,
    (error: Error & { stderr?: string; stdout?: string }) =>
      `${error.stderr ?? ''}${error.stdout ?? ''}`.trim().split('\n')[0] || messageOf(error),
  )
}

async function checkGitLocks(root: string, { path }: Config): Promise<Finding> {
  const names = await readdir(root, { recursive: true }).catch(() => [])
  const old: string[] = []
  for (const name of names.filter((one) => one.endsWith('.lock'))) {
    const { mtimeMs } = await stat(join(root, name)).catch(() => ({ mtimeMs: Date.now() }))
    if (mtimeMs < Date.now() - OLD_LOCK_MS) old.push(name)
  }
  if (old.length === 0) return ok('git locks', 'no repository has an old lock')
  const text = `${old.length} are older than ten minutes, such as ${old[0]}; the server removes those of dead processes`
  return warning('git locks', text, async () => {
    const git = openGit({ root, path })
    try {
      await git.sweep()
    } finally {
      await git.close()
    }
  })
}
