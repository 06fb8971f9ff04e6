import { closeSync, copyFileSync, fstatSync, openSync, readSync, statSync, truncateSync } from 'node:fs'

/** The server's log file, held open for the processes that write it. */
export interface ServerLog {
  readonly fd: number
  /** The last lines written since `open`, at most 8 KiB. */
  tail(): string
  close(): void
}

const largest = 4 * 1024 * 1024
const interval = 60_000
const tailBytes = 8192

/** Copied and emptied rather than renamed: the server keeps its descriptor, and appends. */
function bound(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0
  if (size <= largest) return
  copyFileSync(file, `${file}.1`)
  truncateSync(file)
}

function boundQuietly(file: string): void {
  try {
    bound(file)
  } catch {
    // A full disk must not end the process; the next minute tries again.
  }
}

/** Opens the log for appending; it and one older copy (`.1`) are kept at about 4 MiB each. */
export function openLog(file: string): ServerLog {
  boundQuietly(file)
  const fd = openSync(file, 'a+', 0o600)
  const from = fstatSync(fd).size
  const timer = setInterval(() => boundQuietly(file), interval)
  timer.unref()
  return {
    fd,
    tail() {
      const { size } = fstatSync(fd)
      const start = Math.max(from, size - tailBytes)
      const buffer = Buffer.alloc(Math.max(0, size - start))
      const read = readSync(fd, buffer, 0, buffer.length, start)
      return buffer.toString('utf8', 0, read).trim().split('\n').slice(-20).join('\n')
    },
    close() {
      clearInterval(timer)
      closeSync(fd)
    },
  }
}
