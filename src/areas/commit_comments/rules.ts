export type Side = 'new' | 'old'

const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/

/** Whether the hunks of one file add (`new`) or remove (`old`) the line of that number. */
export function changesLine(diff: string, line: number, side: Side): boolean {
  let [before, after] = [0, 0]
  for (const text of diff.split('\n')) {
    const start = hunk.exec(text)
    if (start) [before, after] = [Number(start[1]), Number(start[2])]
    else if (text.startsWith('+')) {
      if (side === 'new' && after === line) return true
      after += 1
    } else if (text.startsWith('-')) {
      if (side === 'old' && before === line) return true
      before += 1
    } else if (text.startsWith(' ')) {
      before += 1
      after += 1
    }
  }
  return false
}
