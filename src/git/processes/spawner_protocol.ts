/** The first message of the main process, one line of JSON, on a fresh connection to the spawner child. */
export interface LaunchOrder {
  id: number
  binary: string
  args: readonly string[]
  env: Readonly<Record<string, string>>
  /** True when the connection is also the process's stdin; otherwise stdin is /dev/null. */
  input: boolean
  /** Milliseconds until the process is ended; 0 for no limit. */
  timeoutMs: number
  /** True when lines of stderr are reported while the process runs. */
  progress: boolean
}

/** How a process ended. `failure` is set when it never ran. `stderr` is the tail, at most `stderrTailBytes`. */
export interface Ending {
  code: number | null
  signal: string | null
  stderr: string
  timedOut: boolean
  failure?: string
}

/** Messages of the spawner child to the main process over the fork's IPC channel. */
export type ChildReport =
  | { kind: 'ready'; socket: string }
  | { kind: 'started'; id: number; pid: number }
  | { kind: 'progress'; id: number; line: string }
  | { kind: 'ended'; id: number; ending: Ending }

/** Requests of the main process to the spawner child over the IPC channel. */
export interface KillOrder {
  kind: 'kill'
  id: number
}

/** True for what a spawner child sends; node:test and others may use the same channel. */
export function isChildReport(message: unknown): message is ChildReport {
  return hasKind(message, ['ready', 'started', 'progress', 'ended'])
}

/** True for what a main process sends. */
export function isKillOrder(message: unknown): message is KillOrder {
  return hasKind(message, ['kill'])
}

function hasKind(message: unknown, kinds: readonly string[]): boolean {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return false
  return typeof message.kind === 'string' && kinds.includes(message.kind)
}

/** How much of a process's stderr is kept. */
export const stderrTailBytes = 16 * 1024

/** How long a process may take to clean up its lock files after SIGTERM before SIGKILL follows. */
export const graceMs = 1_000

/** Sends a signal to the whole process group led by `pid`; silent when the group has already ended. */
export function killGroup(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(-pid, signal)
  } catch {
    // ESRCH: it ended by itself, which is what was wanted.
  }
}
