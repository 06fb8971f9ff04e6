import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { createApp } from '../src/app.ts'
import { openInstance, type Opened } from '../src/open.ts'
import { readConfig } from '../src/config.ts'
import { repositoryPath } from '../src/core/places/projects.ts'
import { benchCi } from './ci.ts'
import { benchExports } from './exports.ts'
import { fill, type Filled } from './fill.ts'
import type { FloorOrder, FloorRoute } from './floor.ts'
import { benchGit } from './git.ts'
import { benchGitWrites } from './git_writes.ts'
import { repositoryFor } from './history.ts'
import type { Measured, Round } from './load.ts'
import { readings, type Reading } from './operations.ts'
import { recorderOver } from './record.ts'
import { benchPackages } from './packages.ts'
import { benchSenders } from './senders.ts'
import {
  median,
  printCi,
  printGit,
  printJson,
  printSenders,
  printTable,
  type Line,
  type Report,
} from './report.ts'
import { startServer, type Running } from './server.ts'

// Measures a server on a fresh data directory beside the floor: the same statements and the same JSON from a bare route.

const { values: options, positionals } = parseArgs({
  // `git` measures only the git room, `server` only the server, `senders` only what programs send, `ci` only pipelines;
  // `exports` and `packages` are measured only where they are asked for.
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    /** Measures only operations whose names hold this. */
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '3' },
  },
})

const note = (text: string): void => void process.stderr.write(`${text}\n`)

interface Beside<Reply> {
  readonly ask: (question: FloorOrder | Round) => Promise<Reply>
  readonly end: () => void
}

/** A file of this folder as a process of its own that is asked one thing at a time. */
function beside<Reply>(file: string): Beside<Reply> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), {
    execArgv: ['--import', 'tsx'],
    serialization: 'advanced',
  })
  const ended = once(child, 'exit').then(() => Promise.reject(new Error(`${file} ended by itself`)))
  ended.catch(() => {})
  return {
    ask: async (question) => {
      const answered = new Promise<Reply>((resolve) =>
        child.once('message', (reply) => resolve(reply as Reply)),
      )
      child.send(question)
      return Promise.race([answered, ended])
    },
    end: () => void child.kill(),
  }
}

/** Statements and response of each read, recorded by running it in this process. */
async function learn(opened: Opened, { token }: Filled, wanted: readonly Reading[]): Promise<FloorRoute[]> {
  const recorder = recorderOver(opened.instance.db)
  const instance = { ...opened.instance, db: recorder.db }
  const { app } = createApp({ instance, client: opened.client }, { log: pino({ level: 'warn' }) })
  const routes: FloorRoute[] = []
  for (const { name, path } of wanted) {
    const call = { url: `/api/v4${path}`, headers: { 'private-token': token } }
    // Twice: how long a list is is known then.
    for (let time = 0; time < 2; time += 1) await app.inject(call)
    recorder.take()
    const { statusCode, rawPayload } = await app.inject(call)
    if (statusCode !== 200) throw new Error(`${name} answers ${statusCode}: ${rawPayload.toString()}`)
    routes.push({ path: `/${routes.length}`, waves: recorder.take(), answer: rawPayload.toString() })
  }
  await app.close()
  return routes
}

interface Pair {
  readonly ours: Round
  readonly floor: Round
}

async function compare(
  load: (round: Round) => Promise<Measured>,
  pair: Pair,
): Promise<Pick<Line, 'ours' | 'floor'>> {
  const ours: Measured[] = []
  const floor: Measured[] = []
  await load({ ...pair.floor, seconds: 1 })
  await load({ ...pair.ours, seconds: 1 })
  for (let round = 0; round < Number(options.rounds); round++) {
    ours.push(await load(pair.ours))
    floor.push(await load(pair.floor))
  }
  return { ours: middle(ours), floor: middle(floor) }
}

const middle = (rounds: readonly Measured[]): Measured => ({
  perSecond: median(rounds.map((round) => round.perSecond)),
  p50: median(rounds.map((round) => round.p50)),
  p99: median(rounds.map((round) => round.p99)),
  wrong: rounds.reduce((sum, round) => sum + round.wrong, 0),
})

async function bench(folder: string): Promise<Report> {
  const env = {
    PATH: process.env['PATH'] ?? '',
    GUILDHALL_DATA_DIR: join(folder, 'data'),
    GUILDHALL_PORT: '0',
  }
  note('Starting the server on an empty folder …')
  const first = await startServer(env)
  const filled = await inside(env, ({ instance }) => fill(instance, repositoryFor(folder)))
  await first.stop()
  note('Starting it again, full …')
  const server = await startServer(env)
  try {
    const before = server.memory()
    const lines = await inside(env, (opened) => prepareOrder(opened, filled)).then((order) =>
      measure(server, filled, order),
    )
    return {
      lines,
      memory: { before, after: server.memory() },
      start: { cold: first.startedIn, warm: server.startedIn },
    }
  } finally {
    await server.stop()
  }
}

/** Works on the instance beside the server that runs it. */
async function inside<Result>(
  env: Readonly<Record<string, string>>,
  work: (opened: Opened) => Promise<Result>,
): Promise<Result> {
  const opened = await openInstance(readConfig(env), { log: pino({ level: 'warn' }), join: true })
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}

interface Order {
  readonly wanted: readonly Reading[]
  readonly floor: FloorOrder
}

async function prepareOrder(opened: Opened, filled: Filled): Promise<Order> {
  const history = opened.instance.git.repository(repositoryPath(filled.project.id))
  const sha = (await history.resolve(filled.project.branch)) ?? ''
  const wanted = readings(filled, sha).filter(({ name }) => name.includes(options.only))
  return { wanted, floor: { connection: place(opened), routes: await learn(opened, filled, wanted) } }
}

async function measure(server: Running, { token }: Filled, { wanted, floor }: Order): Promise<Line[]> {
  const bare = beside<number>('floor.ts')
  const load = beside<Measured>('load.ts')
  try {
    const floorUrl = `http://127.0.0.1:${await bare.ask(floor)}`
    const round = { token, seconds: Number(options.seconds) }
    const lines: Line[] = []
    for (const [i, reading] of wanted.entries()) {
      note(`GET ${reading.name} …`)
      const { path = '', answer = '' } = floor.routes[i] ?? {}
      const measured = await compare(load.ask, {
        ours: { ...round, url: `${server.url}/api/v4${reading.path}` },
        floor: { ...round, url: floorUrl + path },
      })
      lines.push({ reading, bytes: Buffer.byteLength(answer), ...measured })
    }
    return lines
  } finally {
    bare.end()
    load.end()
  }
}

/** Where the database of an instance is, as another process may connect to it. */
function place({ client }: Opened): FloorOrder['connection'] {
  const { host, port, user, database } = client.pool.options
  return { host, port, user, database }
}

async function benchServer(): Promise<boolean> {
  const folder = await mkdtemp(join(tmpdir(), 'guildhall-bench-'))
  try {
    const report = await bench(folder)
    if (options.json) printJson(report)
    else printTable(report)
    const wrong = report.lines.filter(({ ours, floor }) => ours.wrong + floor.wrong > 0)
    for (const { reading } of wrong) note(`GET ${reading.name} had answers that were no 200`)
    return wrong.length === 0
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const wants = (part: string): boolean => positionals.length === 0 || positionals.includes(part)
if (wants('server') && !(await benchServer())) process.exitCode = 1
if (positionals.includes('packages')) await benchPackages(Number(options.rounds), note)
if (positionals.includes('exports')) await benchExports(Number(options.rounds), note)
if (wants('senders')) printSenders(await benchSenders(Number(options.seconds), note), options.json)
if (wants('ci')) printCi(await benchCi(note), options.json)
if (wants('git')) {
  const writes = 'writes'.includes(options.only) ? await benchGitWrites(note) : []
  printGit([...(await benchGit(options.only, note)), ...writes], options.json)
}
