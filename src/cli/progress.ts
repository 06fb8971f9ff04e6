/** How far a long work has come. */
export interface Progress {
  /** `percent` is missing where nobody knows the whole. */
  readonly step: (phase: string, percent?: number) => void
  /** Call before anything else is written. */
  readonly end: () => void
}

interface Out {
  readonly isTTY?: boolean
  write(text: string): unknown
}

/** On a terminal one line that changes, elsewhere a line per phase. Without `out` nothing is shown. */
export function openProgress(out: Out | undefined): Progress {
  let phase = ''
  let shown = false
  const step: Progress['step'] = (next, percent) => {
    if (out?.isTTY) {
      out.write(`\r\u001B[K${next} ${percent === undefined ? '…' : `${percent}%`}`)
      shown = true
    } else if (next !== phase) out?.write(`${next} …\n`)
    phase = next
  }
  const end = (): void => {
    if (shown) out?.write('\n')
    shown = false
    phase = ''
  }
  return { step, end }
}
