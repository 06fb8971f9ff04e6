import { createReadStream, createWriteStream } from 'node:fs'
import { lstat, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ZipFile } from 'yazl'
import type { Found } from './files.ts'

/** Writes files, links and directories below `root` into a zip file; files that are gone meanwhile are left out. */
export async function writeZip(root: string, files: readonly Found[], target: string): Promise<void> {
  const zip = new ZipFile()
  const output = createWriteStream(target, { flags: 'wx', mode: 0o600 })
  zip.on('error', (error: Error) => output.destroy(error))
  const written = pipeline(zip.outputStream, output)
  const added = addEntries(zip, root, files).catch((error: unknown) => {
    output.destroy(error instanceof Error ? error : new Error(String(error)))
  })
  await Promise.all([added, written])
}

async function addEntries(zip: ZipFile, root: string, files: readonly Found[]): Promise<void> {
  for (const { path, kind } of files) {
    const source = join(root, path)
    const stat = await lstat(source).catch(() => undefined)
    if (stat === undefined) continue
    const { mode, mtime } = stat
    if (kind === 'directory') zip.addEmptyDirectory(path, { mode, mtime })
    else if (kind === 'link') zip.addBuffer(Buffer.from(await readlink(source)), path, { mode, mtime })
    else
      zip.addReadStreamLazy(path, { mode, mtime }, (open) => {
        open(null, createReadStream(source))
      })
  }
  zip.end()
}
