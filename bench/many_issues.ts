import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { pino } from 'pino'
import { createApp } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openInstance } from '../src/open.ts'
import { fill, type Filled } from './many_issues_fill.ts'
import { pages, readers } from './many_issues_pages.ts'

// Lists of issues in a project of 100,000 beside one of 1,000, against what each may take:
// `node --import tsx bench/many_issues.ts [--issues N] [--rounds N] [--in FOLDER] [--only TEXT]`. A folder is kept, and used
// again. The last lines time the write of an issue with three labels.

const { values: given } = parseArgs({
  options: {
    issues: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    in: { type: 'string' },
    only: { type: 'string', default: '' },
  },
})
const ROUNDS = Number(given.rounds)
const SMALL_COUNT = 1_000

const folder = given.in ?? (await mkdtemp(join(tmpdir(), 'guildhall-many-')))
const log = pino({ level: 'silent' })

const dataDir = join(folder, 'large')
const config = readConfig({ PATH: process.env['PATH'], GUILDHALL_DATA_DIR: dataDir })
const opened = await openInstance(config, { log })
const { app } = createApp(opened, { log })
await app.ready()
const kept = join(dataDir, 'filled.json')
if (!existsSync(kept))
  await writeFile(kept, JSON.stringify(await fill(opened, SMALL_COUNT, Number(given.issues))))
const filled = JSON.parse(await readFile(kept, 'utf8')) as Filled

/** The least of several times, in milliseconds. */
async function least(times: number, work: () => Promise<unknown>): Promise<number> {
  let best = Infinity
  for (let round = 0; round < times; round++) {
    const began = performance.now()
    await work()
    best = Math.min(best, performance.now() - began)
  }
  return best
}
async function ask(method: 'GET' | 'POST', path: string, token: string): Promise<void> {
  const { statusCode, body } = await app.inject({
    method,
    url: `/api/v4${path}`,
    headers: { 'private-token': token },
  })
  if (statusCode >= 300) throw new Error(`${statusCode} ${path} ${body}`)
}

const cells = (...numbers: number[]): string => numbers.map((cell) => cell.toFixed(1).padStart(9)).join('')
for (const reader of readers)
  for (const { name, path, most, ratio } of pages) {
    if (!name.includes(given.only)) continue
    const timed = ({ project, group }: Filled['few']): Promise<number> =>
      least(ROUNDS, () => ask('GET', path(project, group), filled[reader]))
    const few = ratio === undefined ? undefined : await timed(filled.few)
    const many = await timed(filled.many)
    const misses = many > most || (few !== undefined && many > (ratio ?? 0) * few)
    console.log(`${reader.padEnd(8)}${name.padEnd(60)}${cells(few ?? NaN, many)}${misses ? '  *' : ''}`)
  }

const WRITES = 100
for (const { project } of [filled.few, filled.many]) {
  const path = `/projects/${project}/issues?title=Written&labels=label 1,label 2,label 3`
  console.log(
    `write of an issue with three labels${cells(await least(WRITES, () => ask('POST', path, filled.planner)))}`,
  )
}
await app.close()
await opened.close()
if (given.in === undefined) await rm(folder, { recursive: true, force: true })
