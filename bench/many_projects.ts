import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openInstance, type Opened } from '../src/open.ts'
import { fill, type Filled } from './fill_projects.ts'
import { everybody, signedIn, type Ask } from './many_projects_pages.ts'

// Each page of the lists of projects, groups, people and members of an instance with 1,000 of each, beside the same page
// of one with 20,000, and how many records stand on both: `node --import tsx bench/many_projects.ts [how the page begins]
// [caller]`. With BENCH_FOLDER the two instances are kept there and used again. A star marks more than five times the same
// and 50 ms, two stars more than a second.

const LARGE_COUNT = Number(process.env['BENCH_MANY'] ?? 20_000)
const OTHERS = Number(process.env['BENCH_OTHERS'] ?? LARGE_COUNT)
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 9)
/** By then the database has settled on its plans. */
const SETTLED = 6
const SMALL_COUNT = 1_000
const [, , PART = '', CALLER = ''] = process.argv

const log = pino({ level: 'silent' })
const kept = process.env['BENCH_FOLDER']
const folder = kept ?? (await mkdtemp(join(tmpdir(), 'guildhall-many-')))

interface World extends Filled {
  readonly app: FastifyInstance
  readonly opened: Opened
}

async function world(count: number, others: number): Promise<World> {
  const place = join(folder, others === count ? String(count) : `${count}-${others}`)
  await mkdir(place, { recursive: true })
  const note = join(place, 'filled.json')
  const config = readConfig({ PATH: process.env['PATH'], GUILDHALL_DATA_DIR: join(place, 'data') })
  const opened = await openInstance(config, { log })
  const { app } = createApp(opened, { log })
  await app.ready()
  if (!existsSync(note)) {
    const began = performance.now()
    await writeFile(note, JSON.stringify(await fill(opened, count, others)))
    console.log(`${count} projects in ${Math.round((performance.now() - began) / 1000)} s`)
  }
  return { ...(JSON.parse(await readFile(note, 'utf8')) as Filled), app, opened }
}

async function time({ app, ...here }: World, ask: Ask, caller: keyof Filled['tokens'] | 'nobody') {
  const url = `/api/v4${ask(here)
    .replace('?&', '?')
    .replace(/\?(.*)\?/, '?$1')}`
  const headers = caller === 'nobody' ? {} : { 'private-token': here.tokens[caller] }
  const times: number[] = []
  let rows = 0
  for (let round = 0; round < SETTLED + ROUNDS; round++) {
    const began = performance.now()
    const { statusCode, body } = await app.inject({ url, headers })
    times.push(performance.now() - began)
    if (statusCode !== 200) return undefined
    rows = (JSON.parse(body) as unknown[]).length
  }
  // The first is before it is known how long the list is.
  return { first: times[0] ?? 0, least: Math.min(...times.slice(SETTLED)), rows }
}

const small = await world(SMALL_COUNT, SMALL_COUNT)
const large = await world(LARGE_COUNT, OTHERS)
for (const caller of ['admin', 'few', 'top', 'nobody'] as const)
  for (const { name, ask } of caller === 'nobody' ? everybody : [...everybody, ...signedIn]) {
    if (!name.startsWith(PART) || !caller.includes(CALLER)) continue
    const few = await time(small, ask, caller)
    const many = await time(large, ask, caller)
    if (few === undefined || many === undefined) continue
    const ratio = many.least / few.least
    const times = [few.least, many.least, ratio, many.first].map((cell) => cell.toFixed(1).padStart(8))
    const rows = [few.rows, many.rows].map((count) => String(count).padStart(5))
    const mark = many.least > 1_000 ? '  **' : many.least > 50 && ratio > 5 ? '  *' : ''
    console.log(`${caller.padEnd(7)}${name.padEnd(72)}${times.join('')}${rows.join('')}${mark}`)
  }
for (const { app, opened } of [small, large]) {
  await app.close()
  await opened.close()
}
if (kept === undefined) await rm(folder, { recursive: true, force: true })
