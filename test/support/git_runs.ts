import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, openSync, readSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export interface GitRun {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly input: string | Buffer
}

interface Answer {
  readonly status: number | null
  /** In base64. */
  readonly stdout: string
  readonly stderr: string
}

interface Runner {
  readonly requests: number
  readonly replies: number
}
let runner: Runner | undefined

/**
 * Runs git to its end and returns its stdout; throws where it fails. A small process beside this one starts it: to
 * copy what a process of tests has in memory takes twelve times as long as git does.
 */
export function runGit({ args, env, input }: GitRun): Buffer {
  runner ??= startRunner()
  const stdin = Buffer.from(input).toString('base64')
  writeFileSync(runner.requests, `${JSON.stringify({ args, env, stdin })}\n`)
  const { status, stdout, stderr } = JSON.parse(readLine(runner.replies)) as Answer
  if (status !== 0) throw new Error(`git ${args.join(' ')} ended with ${status}: ${stderr}`)
  return Buffer.from(stdout, 'base64')
}

function startRunner(): Runner {
  const folder = mkdtempSync(join(tmpdir(), 'guildhall-git-'))
  const [requests, replies] = [join(folder, 'requests'), join(folder, 'replies')]
  execFileSync('mkfifo', [requests, replies])
  const program = fileURLToPath(new URL('git_runner.js', import.meta.url))
  spawn(process.execPath, [program, requests, replies], { stdio: ['ignore', 'ignore', 'inherit'] }).unref()
  // Each waits here until the other has opened its end.
  const opened = { requests: openSync(requests, 'w'), replies: openSync(replies, 'r') }
  rmSync(folder, { recursive: true })
  return opened
}

function readLine(fd: number): string {
  const chunks: Buffer[] = []
  const room = Buffer.alloc(2 ** 16)
  do {
    const read = readSync(fd, room)
    if (read === 0) throw new Error('what runs git for the tests has ended')
    chunks.push(Buffer.from(room.subarray(0, read)))
  } while (chunks.at(-1)?.at(-1) !== 10)
  return Buffer.concat(chunks).toString()
}
