/* Every process of an installation is killed in turn, under writes: server, worker, postmaster, backends, git. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { gitText } from '../support/git_fixtures.ts'
import { makeRepo, type Repo } from '../support/committers.ts'
import { descendantsOf, parentOf, programOf } from '../support/processes.ts'
import {
  databaseProcesses,
  killGroup,
  killServer,
  killsOf,
  openReadyPlace,
  type Place,
  type Running,
  type Started,
} from '../support/program.ts'

const KILLS = killsOf(7)
const WRITERS = 4
const TOKEN = 'a-token-that-outlives-every-crash'
/** Milliseconds. */
const SLOWEST_RESTART = 5_000

let place: Place
let server: Running
let worker: Started
before(async () => {
  place = await openReadyPlace({ GUILDHALL_ROOT_TOKEN: TOKEN, LOG_LEVEL: 'warn' })
})
after(() => place.clear())

interface Acknowledged {
  readonly issues: number[]
  readonly labels: string[]
  /** Issues that an acknowledged commit closes. */
  readonly closed: { readonly iid: number; readonly sha: string }[]
}

const refusals = new Map<number, number>()

/** The body of an acknowledged write; undefined when the server was away or said that something it needs is. */
async function post(path: string, body: object): Promise<Record<string, unknown> | undefined> {
  let answer: Response
  try {
    answer = await fetch(`${server.api}${path}`, {
      method: 'POST',
      headers: { 'private-token': TOKEN, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    const text = await answer.text()
    if (answer.status === 201) return JSON.parse(text) as Record<string, unknown>
    refusals.set(answer.status, (refusals.get(answer.status) ?? 0) + 1)
    assert.equal(answer.status, 503, `${path}: ${text}`)
    assert.match(answer.headers.get('retry-after') ?? '', /^\d+$/)
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
  }
  await sleep(20)
  return undefined
}

/** Opens issues, commits what closes them and makes labels until it is told to stop. */
async function write(repo: Repo, prefix: string, kept: Acknowledged, stop: AbortSignal): Promise<void> {
  for (let i = 0; !stop.aborted; i += 1) {
    const name = `${prefix}-${i}`
    if ((await post('/groups/harbour/labels', { name, color: '#123456' })) !== undefined)
      kept.labels.push(name)
    const issue = await post(`/projects/${repo.id}/issues`, { title: name })
    if (issue === undefined) continue
    const iid = Number(issue['iid'])
    kept.issues.push(iid)
    const commit = await post(`/projects/${repo.id}/repository/commits`, {
      branch: 'main',
      commit_message: `Closes #${iid}`,
      actions: [{ action: 'create', file_path: name, content: name }],
    })
    if (commit !== undefined) kept.closed.push({ iid, sha: String(commit['id']) })
  }
}

const written = ({ issues, labels, closed }: Acknowledged): number =>
  issues.length + labels.length + closed.length

const kill = (pid: number | undefined): void => {
  try {
    if (pid !== undefined) process.kill(pid, 'SIGKILL')
  } catch {
    // It is gone.
  }
}

/** The database's processes: the postmaster is the one whose parent is none of them. */
function database(): { readonly postmaster: number | undefined; readonly backends: readonly number[] } {
  const all = databaseProcesses(place.dataDir)
  const postmaster = all.find((pid) => !all.includes(parentOf(pid) ?? 0))
  return { postmaster, backends: all.filter((pid) => pid !== postmaster) }
}
const startWorker = (): Started => place.start(['worker', '--json'])

/** Kills one kind of process each, and starts again what does not come back by itself. */
const VICTIMS: Readonly<Record<string, (round: number) => Promise<void>>> = {
  server: async () => {
    await killServer(place, server)
    server = await place.serve()
  },
  'server and database': async () => {
    await killServer(place, server, { withDatabase: true })
    server = await place.serve()
  },
  worker: async () => {
    killGroup(worker.pid)
    await worker.ended
    worker = startWorker()
  },
  postmaster: async () => kill(database().postmaster),
  'one backend': async (round) => {
    const { backends } = database()
    kill(backends[round % Math.max(1, backends.length)])
  },
  'every database process': async () => databaseProcesses(place.dataDir).forEach(kill),
  'the children of git': async () => {
    for (const pid of descendantsOf(server.pid)) if (programOf(pid) === 'git') kill(pid)
  },
}

/** Resolves when the server says that it is ready; the server never ends by itself. */
async function untilReady(): Promise<void> {
  const end = performance.now() + 60_000
  for (;;) {
    assert.equal(server.child.exitCode, null, `the server ended by itself: ${server.stderr()}`)
    const answer = await server.get('/-/readiness').catch(() => undefined)
    if (answer?.status === 200) return
    if (answer !== undefined) assert.equal(answer.headers.get('retry-after'), '1')
    assert.ok(performance.now() < end, 'the server is not ready after a minute')
    await sleep(20)
  }
}

/** How many pushes the server has kept to tell of when the database is back. */
const unheard = (): number => {
  const folder = join(place.dataDir, 'unheard')
  return existsSync(folder) ? readdirSync(folder).length : 0
}

/** A connection to the database, which may still be recovering from the last kill. */
async function connect(): Promise<pg.Client> {
  for (let tries = 1; ; tries += 1) {
    const client = new pg.Client({
      host: join(place.dataDir, 'postgres'),
      port: 5432,
      user: 'guildhall',
      database: 'guildhall',
    })
    try {
      await client.connect()
      return client
    } catch (error) {
      if (tries === 100) throw error
      await sleep(100)
    }
  }
}

/** Resolves when no job waits or runs any more: those of dead workers are taken over within a minute. */
async function untilJobsAreDone(): Promise<void> {
  const client = await connect()
  const end = performance.now() + 120_000
  for (;;) {
    const { rows } = await client.query(
      'select id, key, attempts, locked_by, last_error from graphile_worker._private_jobs',
    )
    if (rows.length === 0 && unheard() === 0) break
    assert.ok(performance.now() < end, `jobs are left: ${JSON.stringify(rows.slice(0, 5))}`)
    await sleep(200)
  }
  await client.end()
}

const read = async (path: string): Promise<Record<string, unknown>[]> =>
  (await (await server.get(`/api/v4${path}`, { 'private-token': TOKEN })).json()) as Record<string, unknown>[]

/** Each acknowledged write is there, and each job was done once. */
async function assertKept(repo: Repo, kept: Acknowledged): Promise<void> {
  const history = new Set(gitText(repo.directory, ['log', '--format=%H', 'main']).split('\n'))
  assert.deepEqual(
    kept.closed.filter(({ sha }) => !history.has(sha)),
    [],
  )
  const labels = new Set<unknown>()
  for (let page = 1, size = 100; size === 100; page += 1) {
    const found = await read(`/groups/harbour/labels?per_page=100&page=${page}`)
    for (const { name } of found) labels.add(name)
    size = found.length
  }
  assert.deepEqual(
    kept.labels.filter((name) => !labels.has(name)),
    [],
  )
  const done = new Map(kept.closed.map(({ iid }) => [iid, true]))
  for (const iid of kept.issues) {
    const events = await read(`/projects/${repo.id}/issues/${iid}/resource_state_events`)
    const closings = events.filter(({ state }) => state === 'closed').length
    assert.ok(done.has(iid) ? closings === 1 : closings <= 1, `issue ${iid} was closed ${closings} times`)
  }
}

test('killing any process loses no acknowledged write, and every job is done once', async (t) => {
  server = await place.serve()
  worker = startWorker()
  await place.json(['group', 'create', '--path', 'harbour', '--visibility', 'public'])
  const repo = await makeRepo(place, 'harbour/app', TOKEN)
  const kept: Acknowledged = { issues: [], labels: [], closed: [] }
  const stop = new AbortController()
  const writers = Promise.all(
    Array.from({ length: WRITERS }, (_, i) => write(repo, `w${i}`, kept, stop.signal)),
  )
  writers.catch(() => {})
  const slowest = { ms: 0, victim: '' }
  const victims = Object.entries(VICTIMS)
  for (let round = 0; round < KILLS; round += 1) {
    const [victim, end] = victims[round % victims.length] ?? ['', async () => {}]
    const before = kept.closed.length
    const patience = performance.now() + 60_000
    while (kept.closed.length < before + WRITERS && performance.now() < patience)
      await Promise.race([sleep(20), writers])
    assert.ok(kept.closed.length >= before + WRITERS, `writes go on before ${victim} is killed`)
    await sleep((round * 37) % 150)
    const began = performance.now()
    await end(round)
    await untilReady()
    // Readiness may be told before a broken connection is noticed: a restart ends with the next write.
    for (const seen = written(kept); written(kept) === seen;) await Promise.race([sleep(10), writers])
    const ms = performance.now() - began
    if (ms > slowest.ms) Object.assign(slowest, { ms, victim })
  }
  stop.abort()
  await writers
  assert.equal(worker.child.exitCode, null, `the worker ended by itself: ${worker.stderr()}`)
  await untilJobsAreDone()
  await assertKept(repo, kept)
  t.diagnostic(
    `${kept.issues.length + kept.labels.length + kept.closed.length} acknowledged writes and ${kept.closed.length} closings survived ${KILLS} kills`,
  )
  t.diagnostic(`the slowest restart, after ${slowest.victim}: ${Math.round(slowest.ms)} ms`)
  t.diagnostic(`refusals meanwhile: ${JSON.stringify(Object.fromEntries(refusals))}`)
  if (process.env['TEST_KILLS'] !== undefined) assert.ok(slowest.ms < SLOWEST_RESTART)
  assert.equal((await server.stop()).code, 0)
})
