import { spawn } from 'node:child_process'

/** Milliseconds that processes have to end by themselves. */
const GRACE = 5_000
/** Milliseconds after the end of a program for which its output is still read: what it left behind may hold it open. */
const DRAIN = 1_000

export interface Program {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly write: (chunk: Buffer) => void
  /** Ends the program with everything that it started. */
  readonly signal: AbortSignal
}

/** Runs a program in a process group of its own. Its exit status: 128 and more where a signal ended it. */
export function run({ file, args, cwd, env, write, signal }: Program): Promise<number> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      resolve(137)
      return
    }
    const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    child.stdout.on('data', write)
    child.stderr.on('data', write)
    const group = child.pid
    const killAll = (name: NodeJS.Signals): void => {
      if (group !== undefined) killGroup(group, name)
    }
    let hard: NodeJS.Timeout | undefined
    const stop = (): void => {
      killAll('SIGTERM')
      hard = setTimeout(() => killAll('SIGKILL'), GRACE)
    }
    signal.addEventListener('abort', stop, { once: true })
    const tidy = (): void => {
      signal.removeEventListener('abort', stop)
      clearTimeout(hard)
      // Processes that the program left behind end with it.
      killAll('SIGKILL')
    }
    child.once('error', (error) => {
      tidy()
      reject(error)
    })
    child.once('exit', (code, name) => {
      tidy()
      const drained = setTimeout(() => {
        child.stdout.destroy()
        child.stderr.destroy()
      }, DRAIN)
      child.once('close', () => {
        clearTimeout(drained)
        resolve(code ?? (name === 'SIGTERM' ? 143 : 137))
      })
    })
  })
}

function killGroup(group: number, name: NodeJS.Signals): void {
  try {
    process.kill(-group, name)
  } catch {
    // It is over.
  }
}
