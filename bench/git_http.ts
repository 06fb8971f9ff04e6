import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { pino } from 'pino'
import { openInstance } from '../src/open.ts'
import { makeToken, create as keepToken } from '../src/access/tokens.ts'
import { readConfig } from '../src/config.ts'
import { createWithRepository } from '../src/core/pushes/import.ts'
import { create as createGroup } from '../src/core/places/groups.ts'
import { create as createUser } from '../src/core/people/users.ts'
import { histories } from './git_histories.ts'
import { startServer } from './server.ts'

// Clone and push over HTTP beside git itself on the same repository: `node --import tsx bench/git_http.ts [history]`.

const ROUNDS = 5
const CONNECTIONS = 16
const SECONDS = 3

interface Made {
  readonly token: string
  readonly path: string
}

/** A project with the history, and a token that may push. */
async function furnish(env: Readonly<Record<string, string>>, from: string): Promise<Made> {
  const log = pino({ level: 'warn' })
  const opened = await openInstance(readConfig(env), { log, join: true })
  const { instance } = opened
  const { db, vault } = instance
  const token = makeToken('glpat-')
  const person = { username: 'bench', name: 'Bench', email: 'bench@bench.example', admin: true }
  const values = { parent: undefined, name: 'bench-git', path: 'bench-git', visibility: 'public' as const }
  const { user, group } = await db.transaction(async (tx) => ({
    user: await createUser(tx, person),
    group: await createGroup(tx, { ...values, runners_token: vault.seal('none') }),
  }))
  await keepToken(db, { user_id: user.id, name: 'bench', token, scopes: ['api'], expires_at: null })
  const project = {
    namespace: group,
    creator_id: null,
    name: 'it',
    path: 'it',
    visibility: 'public' as const,
  }
  const { full_path } = await createWithRepository(instance, project, { from })
  await opened.close()
  return { token, path: full_path }
}

const env = { ...process.env, GIT_TERMINAL_PROMPT: '0', GIT_AUTHOR_NAME: 'B', GIT_AUTHOR_EMAIL: 'b@x' }

function git(directory: string, ...args: string[]): number {
  const began = performance.now()
  const committer = { GIT_COMMITTER_NAME: 'B', GIT_COMMITTER_EMAIL: 'b@x' }
  const { status, stderr } = spawnSync('git', args, { cwd: directory, env: { ...env, ...committer } })
  if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.toString()}`)
  return performance.now() - began
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0

const say = (name: string, ours: string, theirs: string): void =>
  console.log([name.padEnd(44), ours.padStart(14), theirs.padStart(14)].join('  '))

/** Adverts a second, by many connections, and by git alone one after the other. */
async function adverts(url: string, { token }: Made, repository: string): Promise<void> {
  const headers = {
    'git-protocol': 'version=2',
    authorization: `Basic ${Buffer.from(`x:${token}`).toString('base64')}`,
  }
  const perSecond = await new Promise<number>((resolve, reject) => {
    let [right, wrong] = [0, 0]
    const run = autocannon(
      {
        url: `${url}/info/refs?service=git-upload-pack`,
        connections: CONNECTIONS,
        duration: SECONDS,
        headers,
      },
      (error) => {
        if (error) reject(error)
        else if (wrong > 0) reject(new Error(`${wrong} adverts were refused`))
        else resolve(right / SECONDS)
      },
    )
    run.on('response', (_client, status) => {
      if (status === 200) right += 1
      else wrong += 1
    })
  })
  const times = Array.from({ length: 50 }, () =>
    git('/', '-c', 'protocol.version=2', 'upload-pack', '--http-backend-info-refs', repository),
  )
  say('info/refs of protocol 2, a second', perSecond.toFixed(0), (1_000 / median(times)).toFixed(0))
}

function clones(url: string, repository: string, folder: string): void {
  const target = join(folder, 'cloned')
  const clone = (from: string, ...more: string[]): number => {
    const took = git(folder, 'clone', '--quiet', '--bare', ...more, from, target)
    rmSync(target, { recursive: true })
    return took
  }
  for (const [name, ...more] of [['clone, ms'], ['shallow clone, ms', '--depth=1']] as [
    string,
    ...string[],
  ][]) {
    const [ours, theirs]: [number[], number[]] = [[], []]
    for (let round = 0; round < ROUNDS; round += 1) {
      ours.push(clone(url, ...more))
      theirs.push(clone(`file://${repository}`, ...more))
    }
    say(name, median(ours).toFixed(0), median(theirs).toFixed(0))
  }
}

function pushes(url: string, repository: string, folder: string): void {
  const work = join(folder, 'work')
  git(folder, 'clone', '--quiet', '--single-branch', '--depth=50', url, work)
  const [ours, theirs]: [number[], number[]] = [[], []]
  for (let round = 0; round < ROUNDS * 2; round += 1) {
    git(work, 'commit', '--quiet', '--allow-empty', '-m', `round ${round}`)
    ours.push(git(work, 'push', '--quiet', url, `HEAD:refs/heads/bench-${round}`))
    theirs.push(git(work, 'push', '--quiet', `file://${repository}`, `HEAD:refs/heads/bench-${round}`))
  }
  say('push of a commit to a new branch, ms', median(ours).toFixed(0), median(theirs).toFixed(0))
}

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-bench-http-'))
  const settings = {
    PATH: process.env['PATH'] ?? '',
    GUILDHALL_DATA_DIR: join(folder, 'data'),
    GUILDHALL_PORT: '0',
  }
  const [history] = await histories(process.argv[2] ?? 'small', (text) => console.error(text))
  if (history === undefined) throw new Error('there is no such history')
  const server = await startServer(settings)
  try {
    const made = await furnish(settings, history.path)
    const copy = join(folder, 'copy.git')
    git(folder, 'clone', '--quiet', '--mirror', '--no-local', history.path, copy)
    const plain = `${server.url}/${made.path}.git`
    const url = plain.replace('//', `//bench:${made.token}@`)
    say(history.name, 'ours', 'git itself')
    await adverts(plain, made, copy)
    clones(url, copy, folder)
    pushes(url, copy, folder)
  } finally {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

await main()
