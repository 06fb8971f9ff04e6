import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

export interface Running {
  readonly url: string
  /** Milliseconds from the start of the process to the line that says where it listens. */
  readonly startedIn: number
  /** Megabytes of memory of the server's own process, where the system tells. */
  readonly memory: () => number | undefined
  readonly stop: () => Promise<void>
}

const ROOT = new URL('../', import.meta.url)
const manifest = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
  scripts: { start: string }
}
/** Arguments that `npm start` gives to `node`. */
const START = manifest.scripts.start.split(' ').slice(1)

/** Starts the server as its users do, with nothing of this environment but `env`. */
export async function startServer(env: Readonly<Record<string, string>>): Promise<Running> {
  const began = performance.now()
  // Logs are written as in service, to where nobody reads them.
  const child = spawn(process.execPath, [...START, '--json'], {
    cwd: fileURLToPath(ROOT),
    env: { ...env },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const url = await listening(child)
  const startedIn = performance.now() - began
  return {
    url: url.replace('localhost', '127.0.0.1'),
    startedIn,
    memory: () => residentMegabytes(child.pid ?? 0),
    stop: async () => {
      const exited = once(child, 'exit')
      if (child.kill('SIGTERM')) await exited
    },
  }
}

async function listening(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('the server has no output')
  for await (const line of createInterface({ input: child.stdout }))
    if (line.startsWith('{')) return (JSON.parse(line) as { url: string }).url
  throw new Error('the server ended before it listened; `npm start` says why')
}

function residentMegabytes(pid: number): number | undefined {
  try {
    const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024
  } catch {
    return undefined
  }
}
