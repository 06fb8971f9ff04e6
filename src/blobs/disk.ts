import { constants } from 'node:fs'
import { mkdir, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BlobStorage } from './storage.ts'

/** Files below `root`, in 256 folders by the first two characters of their location. */
export function openDisk(root: string): BlobStorage {
  const folders = new Map<string, Promise<string>>()
  const folderOf = (location: string): Promise<string> => {
    const name = location.slice(0, 2)
    // Everyone waits for the fsync of the parent folder, not only the request that made the folder.
    const folder = folders.get(name) ?? makeFolder(root, name)
    folders.set(name, folder)
    folder.catch(() => folders.delete(name))
    return folder
  }
  const pathOf = (location: string): string => join(root, location.slice(0, 2), location)
  return {
    put: async (location, body) => {
      const folder = await folderOf(location)
      await writeNew(join(folder, location), body)
      await syncFolder(folder)
    },
    get: async (location, range) => (await open(pathOf(location), 'r')).createReadStream(range),
    remove: (location) => rm(pathOf(location), { force: true }),
    // The disk of the data directory is looked at by readiness itself.
    check: async () => {},
  }
}

async function makeFolder(root: string, name: string): Promise<string> {
  const folder = join(root, name)
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await syncFolder(root)
  await syncFolder(dirname(root))
  return folder
}

async function writeNew(path: string, body: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    for await (const chunk of body) await file.writeFile(chunk)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY)
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
