import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process'

/** A user and group id that a process is started with; only root may name others than its own. */
export interface Ids {
  readonly uid: number
  readonly gid: number
}

/** A program and its arguments. */
export type Command = readonly [string, ...string[]]

/** How a process ended; `failure` is set when it could not be started at all. */
export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly failure?: NodeJS.ErrnoException
}

export interface Outcome extends Ending {
  /** Standard output and standard error, as they came, at most about 64 KiB. */
  readonly output: string
}

export interface Supervised {
  readonly pid: number | undefined
  readonly ended: Promise<Ending>
  signal(name: NodeJS.Signals): void
}

/** Nothing of our own environment (PGDATA, LC_*, LD_*) may change what the server does. */
const environment = {
  PATH: '/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin',
  LC_ALL: 'C',
  TZ: 'UTC',
}

/**
 * Replaces itself by the command, after leaving behind a watcher that reads our pipe: end of file means
 * that we died, in whatever way, and stops the command; a line means that the command is known to have
 * ended. The watcher is a grandchild because the postmaster takes an unknown child's death for a crash.
 */
const lifeline = `exec 9<&0 </dev/null
( ( exec >/dev/null 2>&1 </dev/null 3<&-; read -r _ <&9 || kill -INT $$ ) & )
exec 9<&-
exec "$@"`

const outputLimit = 65_536

function start(command: Command, stdio: StdioOptions, options: { ids?: Ids | undefined; cwd: string }) {
  const [file, ...args] = command
  return spawn(file, args, { stdio, cwd: options.cwd, env: environment, detached: true, ...options.ids })
}

function extra(fd: number | undefined): number[] {
  return fd === undefined ? [] : [fd]
}

function isErrno(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'code' in error
}

function ending(child: ChildProcess, event: 'exit' | 'close'): Promise<Ending> {
  return new Promise((resolve) => {
    child.once('error', (failure) => {
      // An error after the start (a signal that could not be sent) is not an ending.
      if (child.pid === undefined) resolve({ code: null, signal: null, failure })
    })
    child.once(event, (code: number | null, signal: NodeJS.Signals | null) => resolve({ code, signal }))
  })
}

/**
 * Runs a short command to its end and never rejects; after `limit` milliseconds it is killed. `input` goes to
 * its standard input, and `fd` is handed to it as descriptor 3.
 */
export async function run(
  command: Command,
  options: { ids?: Ids | undefined; cwd?: string; input?: string; fd?: number; limit?: number } = {},
): Promise<Outcome> {
  const stdio: StdioOptions = ['pipe', 'pipe', 'pipe', ...extra(options.fd)]
  let child: ChildProcess
  try {
    child = start(command, stdio, { ids: options.ids, cwd: options.cwd ?? '/' })
  } catch (error) {
    // Node throws some refusals (EPERM on a foreign uid) and emits others.
    if (isErrno(error)) return { code: null, signal: null, failure: error, output: '' }
    throw error
  }
  let output = ''
  const take = (chunk: Buffer) => {
    output = (output + chunk.toString('utf8')).slice(-outputLimit)
  }
  child.stdout?.on('data', take)
  child.stderr?.on('data', take)
  // A command that ends without reading its input breaks the pipe; its exit code says the rest.
  child.stdin?.on('error', () => {})
  child.stdin?.end(options.input ?? '')
  const timer = setTimeout(() => child.kill('SIGKILL'), options.limit ?? 10_000)
  const end = await ending(child, 'close')
  clearTimeout(timer)
  return { ...end, output }
}

/**
 * Starts a long-lived command, before returning, that is sent SIGINT as soon as this process is gone, however it died. It is in a
 * session of its own, so that Ctrl-C reaches only us; its output goes to the descriptor `output`, and `fd` is
 * handed to it as descriptor 3. Never throws: a command that cannot start ends at once with `failure`.
 */
export function supervise(
  command: Command,
  options: { ids?: Ids | undefined; cwd: string; output: number; fd?: number },
): Supervised {
  let child: ChildProcess
  try {
    const stdio: StdioOptions = ['pipe', options.output, options.output, ...extra(options.fd)]
    child = start(['/bin/sh', '-c', lifeline, 'sh', ...command], stdio, options)
  } catch (error) {
    if (!isErrno(error)) throw error
    const failed: Ending = { code: null, signal: null, failure: error }
    return { pid: undefined, ended: Promise.resolve(failed), signal: () => {} }
  }
  child.stdin?.on('error', () => {})
  const ended = ending(child, 'exit').then((end) => {
    child.stdin?.end('ended\n')
    return end
  })
  return { pid: child.pid, ended, signal: (name) => void child.kill(name) }
}
