import type { CiLine } from './ci.ts'
import type { GitLine } from './git.ts'
import type { Measured } from './load.ts'
import type { Reading } from './operations.ts'
import type { SenderLine } from './senders.ts'

export interface Line {
  readonly reading: Reading
  readonly bytes: number
  readonly ours: Measured
  readonly floor: Measured
}
export interface Report {
  readonly lines: readonly Line[]
  /** Megabytes. */
  readonly memory: { readonly before: number | undefined; readonly after: number | undefined }
  /** Milliseconds. */
  readonly start: { readonly cold: number; readonly warm: number }
}

const HEADINGS = [
  'operation',
  'bytes',
  'ours req/s',
  'floor req/s',
  'ratio',
  'p50 ms',
  'p99 ms',
  'p99/p50',
  'floor p50',
  'floor p99',
]

export function printTable({ lines, memory, start }: Report): void {
  const rows = lines.map(({ reading, bytes, ours, floor }) => [
    `GET ${reading.name}`,
    String(bytes),
    ours.perSecond.toFixed(0),
    floor.perSecond.toFixed(0),
    (ours.perSecond / floor.perSecond).toFixed(2),
    ours.p50.toFixed(1),
    ours.p99.toFixed(1),
    (ours.p99 / ours.p50).toFixed(1),
    floor.p50.toFixed(1),
    floor.p99.toFixed(1),
  ])
  sayColumns([HEADINGS, ...rows])
  const megabytes = (value: number | undefined): string =>
    value === undefined ? 'unknown' : `${value.toFixed(0)} MB`
  say(
    `\nmemory of the server's process: ${megabytes(memory.before)} before the load, ${megabytes(memory.after)} after`,
  )
  say(
    `ready to serve after ${start.cold.toFixed(0)} ms the first time, ${start.warm.toFixed(0)} ms the second`,
  )
}

export function printJson({ lines, memory, start }: Report): void {
  const operations = lines.map(({ reading, bytes, ours, floor }) => ({
    ...reading,
    bytes,
    ours,
    floor,
    ratio: ours.perSecond / floor.perSecond,
  }))
  say(JSON.stringify({ operations, memory_mb: memory, start_ms: start }))
}

const say = (text: string): void => void process.stdout.write(`${text}\n`)

/** Prints what the git room takes beside the git command line. */
export function printGit(lines: readonly GitLine[], asJson: boolean): void {
  if (asJson) return say(JSON.stringify({ git: lines }))
  const headings = ['history', 'operation', 'ours ms', 'git ms', 'ratio', 'wanted', '']
  const rows = lines.map(({ history, name, ours, git, floor, wanted }) => {
    const ratio = git === undefined ? undefined : git / ours
    const isMet = ratio === undefined ? ours <= wanted : ratio >= wanted
    return [
      history,
      name,
      ours.toFixed(3),
      git?.toFixed(2) ?? '',
      ratio?.toFixed(1) ?? '',
      ratio === undefined ? `<= ${wanted}` : `>= ${wanted}`,
      `${isMet ? '' : 'NOT MET'}${floor === undefined ? '' : ` (idle beside: ${floor.toFixed(1)})`}`,
    ]
  })
  sayColumns([headings, ...rows])
}

/** Prints what programs send beside one durable insert, and reads during a flood beside reads alone. */
export function printSenders(lines: readonly SenderLine[], asJson: boolean): void {
  if (asJson) return say(JSON.stringify({ senders: lines }))
  const headings = ['what is sent', 'ours/s', 'p99 ms', 'beside/s', 'p99 ms', 'ratio', 'wanted', '']
  const rows = lines.map(({ name, ours, beside, ratio, wanted, met }) => [
    name,
    ours.perSecond.toFixed(0),
    ours.p99.toFixed(1),
    beside.perSecond.toFixed(0),
    beside.p99.toFixed(1),
    ratio.toFixed(2),
    wanted,
    met ? '' : 'NOT MET',
  ])
  sayColumns([headings, ...rows])
}

/** Prints what pipelines take. */
export function printCi(lines: readonly CiLine[], asJson: boolean): void {
  if (asJson) return say(JSON.stringify({ ci: lines }))
  const rows = lines.map(({ name, found, wanted, met }) => [name, found, wanted, met ? '' : 'NOT MET'])
  sayColumns([['pipelines', 'found', 'wanted', ''], ...rows])
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = (sorted.length - 1) / 2
  return ((sorted[Math.floor(half)] ?? 0) + (sorted[Math.ceil(half)] ?? 0)) / 2
}

/** Lines of a table: the first column to the left, all others to the right. */
function sayColumns(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  for (const row of rows)
    say(
      row
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join('  '),
    )
}
