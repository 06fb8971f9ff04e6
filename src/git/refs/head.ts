import { randomBytes } from 'node:crypto'
import { open, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isRefName } from '../names.ts'

/**
 * Makes HEAD name a branch, durably, whether the branch is there or not. Throws TypeError when `branch` can be none, and
 * what the file system throws.
 */
export async function pointHead(gitDirectory: string, branch: string): Promise<void> {
  if (!isRefName(branch)) throw new TypeError('Not the name of a branch')
  const temporary = join(gitDirectory, `tmp_head_${randomBytes(8).toString('hex')}`)
  try {
    await writeFile(temporary, `ref: refs/heads/${branch}\n`, { flush: true })
    await rename(temporary, join(gitDirectory, 'HEAD'))
  } catch (error) {
    await rm(temporary, { force: true })
    throw error
  }
  const handle = await open(gitDirectory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
