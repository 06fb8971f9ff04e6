import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { eachOf, isMissing } from './files.ts'
import { readManifest, type BackedUpFile } from './manifest.ts'
import type { Step } from './backup.ts'

export interface Verified {
  readonly files: number
  readonly bytes: number
  /** A line for each file that differs. */
  readonly faults: readonly string[]
}

/** Compares every file of a backup with its digest. */
export async function verifyBackup(folder: string, step: Step): Promise<Verified> {
  const { files } = await readManifest(folder)
  const faults: string[] = []
  let bytes = 0
  await eachOf(files, async (file, i) => {
    const fault = await faultOf(folder, file)
    if (fault !== undefined) faults.push(`${file.path} ${fault}`)
    bytes += file.size
    step('digests', Math.floor((i * 100) / files.length))
  })
  return { files: files.length, bytes, faults: faults.toSorted() }
}

async function faultOf(folder: string, { path, size, sha256 }: BackedUpFile): Promise<string | undefined> {
  const hash = createHash('sha256')
  let read = 0
  try {
    for await (const chunk of createReadStream(join(folder, path)) as AsyncIterable<Buffer>) {
      hash.update(chunk)
      read += chunk.length
    }
  } catch (error) {
    if (isMissing(error)) return 'is missing'
    return `cannot be read: ${error instanceof Error ? error.message : String(error)}`
  }
  if (read !== size) return `has ${read} bytes instead of ${size}`
  return hash.digest('hex') === sha256 ? undefined : 'has other bytes'
}
