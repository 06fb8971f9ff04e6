import {
  closeSync,
  constants,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from './process.ts'

/** open(2) flag of the BSDs and macOS that takes a flock(2) while opening; unknown to Linux. */
const openExclusively = 0x20

const patience = 1000

function openLockFile(dataDir: string, file: string): number | 'taken' {
  const bsd = process.platform === 'linux' ? 0 : openExclusively | constants.O_NONBLOCK
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    return openSync(file, constants.O_RDWR | constants.O_CREAT | bsd, 0o600)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined
    if (bsd !== 0 && (code === 'EAGAIN' || code === 'EWOULDBLOCK')) return 'taken'
    throw new Error(
      `The data directory ${dataDir} cannot be created or written (${String(code)}). Set GUILDHALL_DATA_DIR to one that can.`,
      { cause: error },
    )
  }
}

/** Where flock(1) is missing: an abstract socket, which the kernel also frees when its holder dies. */
function listenOnName(dataDir: string): Promise<(() => void) | 'taken'> {
  const { dev, ino } = statSync(dataDir)
  const server = createServer((connection) => connection.destroy())
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve('taken')
      else reject(error)
    })
    server.listen(`\0guildhall-${dev}-${ino}`, () => {
      server.unref()
      resolve(() => server.close())
    })
  })
}

async function take(fd: number, dataDir: string): Promise<(() => void) | 'taken'> {
  if (process.platform !== 'linux') return () => closeSync(fd)
  // The lock belongs to the open file, which the command only borrows: it stays ours until we close it or die.
  const { code, output } = await run(['flock', '-x', '-n', '3'], { fd })
  if (code === 0) return () => closeSync(fd)
  if (code === 1 && output === '') return 'taken'
  const release = await listenOnName(dataDir)
  if (release === 'taken') return release
  return () => {
    release()
    closeSync(fd)
  }
}

async function tryLock(dataDir: string, file: string): Promise<(() => void) | 'taken'> {
  const fd = openLockFile(dataDir, file)
  if (fd === 'taken') return fd
  const release = await take(fd, dataDir)
  if (release === 'taken') {
    closeSync(fd)
    return release
  }
  ftruncateSync(fd)
  writeSync(fd, `${process.pid}\n`, 0)
  return release
}

/**
 * Creates the data directory if need be and takes it for this process until the returned function is called or
 * the process dies; the kernel frees it, so nothing is ever left to clean. Throws after a second when another
 * Guildhall keeps it, and at once when it cannot be written.
 */
export async function lockDataDir(dataDir: string): Promise<() => void> {
  const file = join(dataDir, 'guildhall.lock')
  // A process that was killed just now, to be replaced by this one, may still be going.
  const end = performance.now() + patience
  let release = await tryLock(dataDir, file)
  while (release === 'taken' && performance.now() < end) {
    await sleep(50)
    release = await tryLock(dataDir, file)
  }
  if (release !== 'taken') return release
  const holder = readFileSync(file, 'utf8').trim()
  throw new Error(
    `The data directory ${dataDir} is in use by another Guildhall${holder ? ` (process ${holder})` : ''}. ` +
      'Stop that one first, or set GUILDHALL_DATA_DIR to another directory.',
  )
}
