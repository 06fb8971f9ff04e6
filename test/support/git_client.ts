/* The real git as a client of a server in this process: its own home, no terminal, nothing of this machine's settings. */
import { spawn } from 'node:child_process'
import { listen } from './wire.ts'
import { scratch } from './git_fixtures.ts'
import type { Someone } from './makers.ts'
import type { World } from './world.ts'

export interface Ran {
  readonly code: number | null
  readonly out: string
  /** Messages of git for people. */
  readonly told: string
}

export interface GitClient {
  readonly port: number
  /** The address of a project or alias, for a caller or for nobody. */
  readonly url: (place: string, as?: Pick<Someone, 'token'>) => string
  /** Runs git in `directory`; never throws. */
  readonly run: (directory: string, args: readonly string[], options?: RunOptions) => Promise<Ran>
  /** The same, and throws with what git told when it fails. */
  readonly git: (directory: string, ...args: string[]) => Promise<string>
  readonly place: string
}

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal
}

const environment = (home: string): Record<string, string> => ({
  PATH: process.env['PATH'] ?? '/usr/bin:/bin',
  HOME: home,
  LC_ALL: 'C.UTF-8',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_TERMINAL_PROMPT: '0',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
})

/** Lets the world listen and gives a git to call it with. */
export const openGitClient = async (world: World): Promise<GitClient> => gitClientOf(await listen(world.app))

/** A git to call the server at a port of this machine with. */
export function gitClientOf(port: number): GitClient {
  const place = scratch()
  const run: GitClient['run'] = (directory, args, { env = {}, signal } = {}) =>
    new Promise((resolve) => {
      const child = spawn(
        'git',
        ['-c', 'init.defaultBranch=main', '-c', 'advice.detachedHead=false', ...args],
        {
          cwd: directory,
          env: { ...environment(place), ...env },
          stdio: ['ignore', 'pipe', 'pipe'],
          detached: true,
        },
      )
      const out: Buffer[] = []
      const told: Buffer[] = []
      child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
      child.stderr.on('data', (chunk: Buffer) => told.push(chunk))
      // A kill of the leader alone would leave the part that speaks HTTP alive.
      signal?.addEventListener('abort', () => process.kill(-(child.pid ?? 0), 'SIGKILL'), { once: true })
      child.on('close', (code) =>
        resolve({ code, out: Buffer.concat(out).toString(), told: Buffer.concat(told).toString() }),
      )
    })
  return {
    port,
    place,
    url: (path, as) => `http://${as ? `anybody:${as.token}@` : ''}127.0.0.1:${port}/${path}`,
    run,
    git: async (directory, ...args) => {
      const { code, out, told } = await run(directory, args)
      if (code !== 0) throw new Error(`git ${args.join(' ')}: ${told}`)
      return out.trimEnd()
    },
  }
}
