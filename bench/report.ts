import type { Measured } from './load.ts'
import type { Reading } from './operations.ts'

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
  const widths = HEADINGS.map((heading, i) =>
    Math.max(heading.length, ...rows.map((row) => row[i]?.length ?? 0)),
  )
  for (const row of [HEADINGS, ...rows])
    say(
      row
        .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
        .join('  '),
    )
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
