import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { createYield } from '../event_loop.ts'
import { readPattern } from '../config/patterns.ts'
import type { Traces } from '../jobs/traces.ts'

/** Bytes at the end of a log that are searched. */
const MAX_SEARCHED_BYTES = 1024 * 1024
/** Characters of a line that are searched. */
const MAX_LINE_CHARACTERS = 2_000

const patternStatement = statement(
  (p: Slots<{ id: number }>) => sql<{ coverage: string | null }>`
    select s.coverage from ci_jobs j join ci_job_specs s on s.id = j.spec_id where j.id = ${p.id}`,
)
const setStatement = statement(
  (p: Slots<{ id: number; coverage: number | null; trace_size: number }>) => sql`
    update ci_jobs set coverage = coalesce(${p.coverage}, coverage), trace_size = ${p.trace_size} where id = ${p.id}`,
)

/** The results of a log, for the row of its job. */
export interface LogResults {
  readonly coverage: number | null
  /** Bytes. */
  readonly trace_size: number
}
export const setLogResults = (db: Db, id: number, results: LogResults): Promise<number> =>
  db.run(setStatement, { id, ...results })

/** Searches the log of a job for the number that its `coverage` describes. */
export async function readLogResults(db: Db, traces: Traces, jobId: number): Promise<LogResults> {
  const trace_size = await traces.size(jobId)
  const source = (await db.one(patternStatement, { id: jobId }))?.coverage ?? null
  if (source === null) return { coverage: null, trace_size }
  return { coverage: await coverageIn(await traces.tail(jobId, MAX_SEARCHED_BYTES), source), trace_size }
}

/** The first number in the last match of a regular expression without its slashes; null where there is none. */
export async function coverageIn(log: string, source: string): Promise<number | null> {
  const pattern = readPattern(`/${source}/`)
  if (pattern === null) return null
  const breathe = createYield()
  // eslint-disable-next-line no-control-regex -- colors hold numbers
  const plain = log.replaceAll(/\u001B\[[\d;]*[A-Za-z]/g, '')
  for (const line of plain.split(/\r?\n|\r/).toReversed()) {
    await breathe()
    const [number] = /\d+(?:\.\d+)?/.exec(pattern.lastIn(line.slice(0, MAX_LINE_CHARACTERS)) ?? '') ?? []
    if (number !== undefined) return Number(number)
  }
  return null
}
