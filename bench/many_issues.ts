import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openInstance, type Opened } from '../src/open.ts'
import { fill, type Filled } from './many_issues_fill.ts'
import { fillRecords } from './many_records_fill.ts'
import { pagesOf } from './many_issues_pages.ts'
import { watch } from '../test/support/plans.ts'

// Each page of a list of issues in a project of 1,000 beside the same page in one of a million, and of merge requests,
// notes, events and reminders of 1,000 beside 200,000; lists of everything beside those of an instance of 1,000:
// `node --import tsx bench/many_issues.ts [--issues N] [--rounds N] [--in FOLDER] [--only PAGE]… [--who NAME] [--writes]
// [--explain]`. A folder is kept, and used again. With `--writes` something is committed before each request, so that
// nothing stands from the one before. What a page reads of the database is counted beside its time, and its records.

const { values: given } = parseArgs({
  options: {
    issues: { type: 'string', default: '1000000' },
    rounds: { type: 'string', default: '10' },
    in: { type: 'string' },
    only: { type: 'string', multiple: true },
    who: { type: 'string' },
    writes: { type: 'boolean', default: false },
    explain: { type: 'boolean', default: false },
  },
})
const ROUNDS = Number(given.rounds)
const FEW = 1_000

const folder = given.in ?? (await mkdtemp(join(tmpdir(), 'guildhall-many-')))
const log = pino({ level: 'silent' })

interface Place {
  readonly app: FastifyInstance
  readonly opened: Opened
  readonly filled: Filled
}

async function place(name: string, ...issues: readonly [few: number, many: number]): Promise<Place> {
  const dataDir = join(folder, name)
  const opened = await openInstance(readConfig({ PATH: process.env['PATH'], GUILDHALL_DATA_DIR: dataDir }), {
    log,
  })
  const { app } = createApp(opened, { log })
  await app.ready()
  const kept = join(dataDir, 'filled.json')
  if (!existsSync(kept)) {
    const made = await fill(opened, ...issues)
    await fillRecords(opened, made, issues[1] / 5)
    await writeFile(kept, JSON.stringify(made))
  }
  return { app, opened, filled: JSON.parse(await readFile(kept, 'utf8')) as Filled }
}
const large = await place('large', FEW, Number(given.issues))
/** For lists of everything, of which an instance has one. */
const small = await place('small', FEW / 2, FEW / 2)

/** How many records stand on the page. */
async function ask({ app }: Place, path: string, token: string): Promise<number> {
  const headers = { 'private-token': token }
  const { statusCode, body } = await app.inject({ url: `/api/v4${path}`, headers })
  if (statusCode !== 200) throw new Error(`${statusCode} ${path} ${body}`)
  return (JSON.parse(body) as unknown[]).length
}

interface Measured {
  readonly time: number
  readonly first: number
  readonly blocks: number
  readonly rows: number
}

/**
 * The least of several times, in milliseconds, and how many blocks of 8 KiB the database touches; and the first time, before
 * it is known how long the list is, and before the database has read it.
 */
async function measure(at: Place, path: string, token: string): Promise<Measured> {
  const times: number[] = []
  let rows = 0
  for (let round = 0; round < ROUNDS; round++) {
    if (given.writes) await at.opened.client.pool.query('select pg_current_xact_id()')
    const began = performance.now()
    rows = await ask(at, path, token)
    times.push(performance.now() - began)
  }
  const plans = await watch(at.opened.client.pool, () => ask(at, path, token))
  if (given.explain) for (const { text } of plans) console.log(`${path}\n${text}\n`)
  return {
    time: Math.min(...times),
    first: times[0] ?? 0,
    blocks: plans.reduce((sum, { blocks }) => sum + blocks, 0),
    rows,
  }
}

const cells = (...numbers: string[]): string => numbers.map((cell) => cell.padStart(9)).join('')
console.log(
  `${''.padEnd(58)}${cells('few ms', 'many ms', 'ratio', 'first', 'few 8K', 'many 8K', 'few', 'many')}`,
)
for (const { who, page, few, many } of pagesOf(large.filled)) {
  const name = `${who.padEnd(9)}${page || 'as it comes'}`
  if (given.only !== undefined && !given.only.includes(page)) continue
  if (given.who !== undefined && who !== given.who) continue
  const beside = who === 'all' ? small : large
  const reader = who === 'guest' ? 'guest' : 'planner'
  const a = await measure(beside, few, beside.filled[who === 'todos' ? 'guest' : reader])
  const b = await measure(large, many, large.filled[reader])
  const times = [a.time, b.time, b.time / a.time, b.first].map((time) => time.toFixed(1))
  const counts = [a.blocks, b.blocks, a.rows, b.rows].map(String)
  const mark = b.time <= 3 * a.time ? '' : a.rows === b.rows ? '  *' : '  longer'
  console.log(`${name.padEnd(58)}${cells(...times, ...counts)}${mark}`)
}
for (const { app, opened } of [small, large]) {
  await app.close()
  await opened.close()
}
if (given.in === undefined) await rm(folder, { recursive: true, force: true })
