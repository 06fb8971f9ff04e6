import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readFileSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface GitRun {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly input: string | Buffer
}

interface Runner {
  readonly requests: number
  readonly replies: number
  /** Holds the input, the output and the errors of the last run. */
  readonly folder: string
}
let runner: Runner | undefined

/**
 * Runs git to its end and returns its stdout; throws where it fails. A shell beside this process starts it: to copy what
 * a process of node has in memory takes longer than git does.
 */
export function runGit({ args, env, input }: GitRun): Buffer {
  runner ??= startRunner()
  const { folder, requests, replies } = runner
  const [stdin, stdout, stderr] = [join(folder, 'input'), join(folder, 'output'), join(folder, 'errors')]
  writeFileSync(stdin, input)
  const variables = Object.entries(env).map(([name, value]) => `${name}=${quoted(value)}`)
  const command = [...variables, 'git', ...args.map(quoted)].join(' ')
  writeFileSync(requests, `${command} <${quoted(stdin)} >${quoted(stdout)} 2>${quoted(stderr)}; echo $?\n`)
  const status = readLine(replies)
  if (status !== '0')
    throw new Error(`git ${args.join(' ')} ended with ${status}: ${readFileSync(stderr, 'utf8')}`)
  return readFileSync(stdout)
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

function startRunner(): Runner {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-git-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const [requests, replies] = [join(folder, 'requests'), join(folder, 'replies')]
  execFileSync('mkfifo', [requests, replies])
  const shell = `exec sh <${quoted(requests)} >${quoted(replies)}`
  spawn('sh', ['-c', shell], { env: {}, stdio: ['ignore', 'ignore', 'inherit'] }).unref()
  // Each waits here until the other has opened its end.
  return { folder, requests: openSync(requests, 'w'), replies: openSync(replies, 'r') }
}

function readLine(fd: number): string {
  const room = Buffer.alloc(2 ** 10)
  let line = ''
  do {
    const read = readSync(fd, room)
    if (read === 0) throw new Error('what runs git for the tests has ended')
    line += room.toString('latin1', 0, read)
  } while (!line.endsWith('\n'))
  return line.trim()
}
