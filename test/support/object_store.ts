/* A real S3 server, versitygw, over a folder of files. */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort, until } from './program.ts'

const PROGRAM = 'versitygw'
const BUCKET = 'guildhall'

/** Undefined where the server is not installed. */
export function objectStoreVersion(): string | undefined {
  const { status, stdout } = spawnSync('which', [PROGRAM], { encoding: 'utf8' })
  if (status !== 0) return undefined
  // The program knows its version where it was released; one that Go installed has it from its module.
  const { stdout: module } = spawnSync('go', ['version', '-m', stdout.trim()], { encoding: 'utf8' })
  return /mod\s+\S+versitygw\s+v(\S+)/.exec(module ?? '')?.[1] ?? 'found'
}

export interface ObjectStore {
  /** Settings with which the server keeps blobs in it. */
  readonly env: Readonly<Record<string, string>>
  /** Paths of the files of objects, and of parts of uploads. */
  readonly files: () => string[]
  readonly start: () => Promise<void>
  /** Kills the server as it is. */
  readonly kill: () => Promise<void>
  readonly close: () => Promise<void>
}

/** A server that runs, with an empty bucket. */
export async function openObjectStore(): Promise<ObjectStore> {
  const root = mkdtempSync(join(tmpdir(), 'guildhall-objects-'))
  const port = await freePort()
  mkdirSync(join(root, BUCKET))
  let child: ChildProcess | undefined
  const credentials = { AWS_ACCESS_KEY_ID: 'guildhall', AWS_SECRET_ACCESS_KEY: 'not much of a secret' }
  const kill = async (): Promise<void> => {
    if (child === undefined) return
    const closed = once(child, 'close')
    child.kill('SIGKILL')
    await closed
    child = undefined
  }
  const url = `http://127.0.0.1:${port}`
  const start = async (): Promise<void> => {
    const args = ['--port', `127.0.0.1:${port}`, '--quiet', 'posix', root]
    child = spawn(PROGRAM, args, {
      env: {
        PATH: process.env['PATH'],
        ROOT_ACCESS_KEY: credentials.AWS_ACCESS_KEY_ID,
        ROOT_SECRET_KEY: credentials.AWS_SECRET_ACCESS_KEY,
      },
      stdio: 'ignore',
    })
    await until('the object store answers', () =>
      fetch(url).then(
        () => true,
        () => false,
      ),
    )
  }
  await start()
  return {
    env: { ...credentials, BLOB_URL: `s3://${BUCKET}/blobs`, AWS_ENDPOINT_URL_S3: url },
    files: () =>
      readdirSync(root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
        // Locks of the server's own.
        .filter((path) => !path.startsWith('.vgwlocks/')),
    start,
    kill,
    close: async () => {
      await kill()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
