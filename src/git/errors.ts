/**
 * Why a git command or question failed.
 *
 * - `exit`: git ended with a status that the caller did not expect
 * - `timeout`: it ran past its time and was killed
 * - `too_large`: it wrote more bytes than allowed and was killed
 * - `aborted`: the caller's signal fired
 * - `busy`: no free place came up within the bounded wait; nothing was started
 * - `gone`: the process, or the spawner under it, ended before the answer was complete
 * - `spawn`: the process could not be started at all
 * - `moved`: a ref is not where the caller thought it was
 * - `refused`: this room declined the request before any process saw it
 * - `closed`: the room was closed
 */
export type GitFault =
  'exit' | 'timeout' | 'too_large' | 'aborted' | 'busy' | 'gone' | 'spawn' | 'moved' | 'refused' | 'closed'

/** Details of a failed process; every part is optional because it may never have started. */
export interface GitErrorDetails {
  args?: readonly string[]
  code?: number | null
  signal?: string | null
  stderr?: string
  cause?: unknown
}

/** The only error this room throws for a failing git; it never carries a credential, neither in `args` nor in `stderr`. */
export class GitError extends Error {
  override readonly name = 'GitError'
  readonly fault: GitFault
  readonly args: readonly string[]
  readonly code: number | null
  readonly signal: string | null
  /** The last 16 KiB, at most, of what git wrote to stderr. */
  readonly stderr: string

  constructor(fault: GitFault, message: string, details: GitErrorDetails = {}) {
    super(redact(message), details.cause === undefined ? {} : { cause: details.cause })
    this.fault = fault
    this.args = (details.args ?? []).map(redact)
    this.code = details.code ?? null
    this.signal = details.signal ?? null
    this.stderr = redact(details.stderr ?? '')
  }
}

/** Returns `text` with the user information of every URL (`//user:secret@host`) and every Authorization value replaced by `***`. */
function redact(text: string): string {
  return text
    .replaceAll(/\/\/[^\s/@]*(?:@[^\s/@]*)*@/g, '//***@')
    .replaceAll(/(authorization:\s*\w+\s+)\S+/gi, '$1***')
}

/** True for a `GitError`, of the given fault when one is named. */
export function isGitError(error: unknown, fault?: GitFault): error is GitError {
  return error instanceof GitError && (fault === undefined || error.fault === fault)
}

const AWAY: ReadonlySet<GitFault> = new Set(['timeout', 'busy', 'gone', 'spawn', 'closed'])

/** True when git, or a file that it writes, found no space on the disk. */
export function isGitDiskFull(error: unknown): boolean {
  if (error instanceof GitError)
    return /No space left on device|Disk quota exceeded|ENOSPC|EDQUOT/.test(
      `${error.message} ${error.stderr}`,
    )
  return error instanceof Error && 'code' in error && ['ENOSPC', 'EDQUOT'].includes(String(error.code))
}

/** True when git did not get to answer, so that the same question may succeed in a moment. */
export function isGitAway(error: unknown): boolean {
  return error instanceof GitError && AWAY.has(error.fault)
}
