import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JobPayload } from './payload.ts'
import { run } from './processes.ts'
import type { Values } from './variables.ts'

interface Git {
  readonly env: Readonly<Record<string, string>>
  readonly write: (chunk: Buffer | string) => void
  readonly signal: AbortSignal
}

/** Fetches the job's commit into an empty directory, and checks it out. The exit status of the first git that failed. */
export async function getSources(
  { git_info }: JobPayload,
  directory: string,
  values: Values,
  { env, write, signal }: Git,
): Promise<number> {
  const git = (...args: string[]): Promise<number> =>
    run({ file: 'git', args, cwd: directory, env, write, signal })
  const { repo_url, refspecs, sha, ref } = git_info
  const made = await git('-c', 'init.defaultBranch=none', 'init', '--quiet', '--template=')
  if (made !== 0) return made
  // In the file and not among the arguments, which every user of the machine can read.
  await appendFile(
    join(directory, '.git/config'),
    `[remote "origin"]\n\turl = ${repo_url}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`,
  )
  const depth = Number(values.get('GIT_DEPTH') ?? git_info.depth)
  const depthArgs = Number.isInteger(depth) && depth > 0 ? ['--depth', String(depth)] : []
  write(`Fetching changes${depth > 0 ? ` with git depth set to ${depth}` : ''}...\n`)
  const fetched = await git('fetch', '--quiet', '--no-tags', ...depthArgs, 'origin', ...refspecs)
  if (fetched !== 0 || values.get('GIT_CHECKOUT') === 'false') return fetched
  write(`Checking out ${sha.slice(0, 8)} as detached HEAD (ref is ${ref})...\n`)
  const checked = await git('-c', 'advice.detachedHead=false', 'checkout', '--force', '--quiet', sha)
  const strategy = values.get('GIT_SUBMODULE_STRATEGY')
  if (checked !== 0 || (strategy !== 'normal' && strategy !== 'recursive')) return checked
  const recursive = strategy === 'recursive' ? ['--recursive'] : []
  return git('submodule', 'update', '--init', '--force', ...recursive)
}
