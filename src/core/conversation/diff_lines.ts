import { createHash } from 'node:crypto'

export type Side = 'new' | 'old'

/** One line of a difference, with where both sides stand there. */
export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same'
  readonly before: number
  readonly after: number
}

const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/
const KINDS: Readonly<Record<string, DiffLine['kind']>> = { '+': 'added', '-': 'removed', ' ': 'same' }

/** The lines of the hunks of one file, 0 standing for a side that has none. Between hunks both sides go on at the same distance from each other. */
export function* linesOf(diff: string): Generator<DiffLine> {
  let [before, after] = [0, 0]
  for (const text of diff.split('\n')) {
    const start = hunk.exec(text)
    if (start) {
      ;[before, after] = [Number(start[1]), Number(start[2])]
      continue
    }
    const kind = KINDS[text[0] ?? '']
    if (kind === undefined) continue
    yield { kind, before, after }
    if (kind !== 'added') before += 1
    if (kind !== 'removed') after += 1
  }
}

/** Whether that line of the old file is that line of the new one, `lines` long. */
export function isSame(diff: string, before: number, after: number, lines: number): boolean {
  let at = { before: 1, after: 1 }
  for (const line of linesOf(diff)) {
    // Lines before a hunk are equal on both sides.
    if (before < line.before || after < line.after)
      return before >= at.before && after - before === line.after - line.before
    if (line.before === before && line.after === after && line.kind === 'same') return true
    at = {
      before: line.before + (line.kind === 'added' ? 0 : 1),
      after: line.after + (line.kind === 'removed' ? 0 : 1),
    }
  }
  return before >= at.before && after - before === at.after - at.before && after <= lines
}

/** A line as the wire names it: by the digest of the file's path and where both sides stand. */
export const lineCode = (path: string, before: number, after: number): string =>
  `${createHash('sha1').update(path).digest('hex')}_${before}_${after}`

/** Where both sides stand at a line that the hunks add or remove; undefined for any other. */
export function standsAt(diff: string, line: number, side: Side): DiffLine | undefined {
  for (const each of linesOf(diff))
    if (
      side === 'new'
        ? each.kind === 'added' && each.after === line
        : each.kind === 'removed' && each.before === line
    )
      return each
  return undefined
}

/** The number of an unchanged line on the side `to`, by its number on the other side; undefined for a line that only the other side has. */
export function lineOn(diff: string, line: number, to: Side): number | undefined {
  const lone = to === 'new' ? 'removed' : 'added'
  let shift = 0
  for (const { kind, before, after } of linesOf(diff)) {
    const at = to === 'new' ? before : after
    if (at > line) break
    if (at === line && kind === lone) return undefined
    if (at === line && kind === 'same') return to === 'new' ? after : before
    if (kind !== 'same') shift += kind === lone ? -1 : 1
  }
  return line + shift
}
