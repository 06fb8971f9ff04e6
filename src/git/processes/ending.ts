import { GitError } from '../errors.ts'
import type { Ending } from './spawner_protocol.ts'

/** The name of the command, which settings may precede. */
function nameOf(args: readonly string[]): string {
  return args.find((argument, index) => argument !== '-c' && args[index - 1] !== '-c') ?? ''
}

/** Throws GitError `timeout` or `exit` for a command that did not end well. */
export function checkEnding(args: readonly string[], ending: Ending, timeoutMs: number): void {
  if (ending.timedOut) {
    throw new GitError('timeout', `git ${nameOf(args)} took more than ${timeoutMs} ms`, { args, ...ending })
  }
  if (ending.code !== 0) {
    const status = ending.code === null ? `signal ${ending.signal}` : `status ${ending.code}`
    throw new GitError('exit', `git ${nameOf(args)} ended with ${status}`, { args, ...ending })
  }
}
