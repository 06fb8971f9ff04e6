/* A server of its own with a project that pipelines run in, and the bundled runner beside it. */
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Gitlab } from '@gitbeaker/rest'
import { gitClientOf, type GitClient } from './git_client.ts'
import { scratch } from './git_fixtures.ts'
import { killGroup, openReadyPlace, until, type Place, type Running, type Started } from './program.ts'

const ROOT_TOKEN = 'a-token-of-the-administrator'

type Api = InstanceType<typeof Gitlab>

export interface Yard {
  readonly place: Place
  readonly server: Running
  readonly api: Api
  readonly git: GitClient
  readonly project: number
  /** Of the administrator, who owns the project. */
  readonly token: string
  readonly runnerToken: string
  /** Starts a runner whose builds lie in a scratch directory of their own. */
  readonly startRunner: (args?: readonly string[], env?: Readonly<Record<string, string>>) => Started
  /** Ends the runners that still run: they would take the jobs of other tests. */
  readonly stopRunners: () => Promise<void>
  /** Pushes files as one commit to a branch; the id of the pipeline that it starts. */
  readonly push: (files: Readonly<Record<string, string>>, branch?: string) => Promise<number>
  /** Waits until a pipeline is in one of the states, and answers it. */
  readonly untilPipeline: (id: number, ...states: readonly string[]) => Promise<string>
  readonly jobs: (pipeline: number) => Promise<readonly JobShown[]>
  readonly clear: () => Promise<void>
}

export interface JobShown {
  readonly id: number
  readonly name: string
  readonly status: string
  readonly failure_reason?: string
}

export async function openYard(env: Readonly<Record<string, string>> = {}): Promise<Yard> {
  const place = await openReadyPlace({ GUILDHALL_ROOT_TOKEN: ROOT_TOKEN, LOG_LEVEL: 'warn', ...env })
  const server = await place.serve()
  const api = new Gitlab({ host: server.url, token: ROOT_TOKEN })
  const { id } = await api.Projects.create({ name: 'Ship' })
  const answer = await fetch(`${server.api}/user/runners`, {
    method: 'POST',
    headers: { 'private-token': ROOT_TOKEN, 'content-type': 'application/json' },
    body: JSON.stringify({ runner_type: 'instance_type' }),
  })
  const { token } = (await answer.json()) as { readonly token: string }
  return yardOf({ place, server, api, project: id, token: ROOT_TOKEN, runnerToken: token })
}

type Made = Pick<Yard, 'place' | 'server' | 'api' | 'project' | 'token' | 'runnerToken'>

function yardOf(made: Made): Yard {
  const { place, server, api, project, runnerToken } = made
  const builds = mkdtempSync('/tmp/guildhall-builds-')
  // Run as root, the runner's jobs belong to another user.
  chmodSync(builds, 0o711)
  const git = gitClientOf(Number(new URL(server.url).port))
  const jobs: Yard['jobs'] = async (pipeline) => {
    const found = await api.Jobs.all(project, { pipelineId: pipeline, perPage: 100 })
    return (found as readonly JobShown[]).toReversed()
  }
  const runners = new Set<Started>()
  return {
    ...made,
    stopRunners: async () => {
      for (const { pid } of runners) killGroup(pid)
      await Promise.all([...runners].map(({ ended }) => ended))
    },
    clear: async () => {
      await place.clear()
      rmSync(builds, { recursive: true, force: true })
    },
    git,
    jobs,
    startRunner: (args = [], env = {}) => {
      const given = ['runner', '--url', server.url, '--builds-dir', join(builds, 'builds'), ...args]
      const runner = place.start(given, { GUILDHALL_RUNNER_TOKEN: runnerToken, ...env })
      runners.add(runner)
      void runner.ended.then(() => runners.delete(runner))
      return runner
    },
    push: (files, branch = `topic-${randomBytes(4).toString('hex')}`) => push(made, git, files, branch),
    untilPipeline: async (id, ...states) => {
      let status = ''
      await until(`pipeline ${id} is ${states.join(' or ')}`, async () => {
        status = (await api.Pipelines.show(project, id)).status
        return states.includes(status)
      })
      return status
    },
  }
}

async function push(
  { api, project }: Made,
  git: GitClient,
  files: Readonly<Record<string, string>>,
  branch: string,
): Promise<number> {
  const directory = scratch()
  await git.git(directory, 'init', '--quiet')
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), content)
  }
  await git.git(directory, 'add', '.')
  await git.git(directory, 'commit', '--quiet', '-m', 'Configure')
  const url = git.url('root/ship.git', { token: ROOT_TOKEN })
  await git.git(directory, 'push', '--quiet', url, `HEAD:refs/heads/${branch}`)
  const sha = await git.git(directory, 'rev-parse', 'HEAD')
  let id = 0
  await until('the push has a pipeline', async () => {
    const [found] = await api.Pipelines.all(project, { sha: sha.trim() })
    id = found?.id ?? 0
    return id > 0
  })
  return id
}
