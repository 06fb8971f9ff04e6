import { createWriteStream } from 'node:fs'
import { mkdir, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import yauzl, { type Entry, type ZipFile } from 'yauzl'

const KIND = 0o170000
const LINK = 0o120000
/** Bytes of a link's target. */
const MAX_LINK_BYTES = 4_096

const openZip = promisify(yauzl.open) as (path: string, options: yauzl.Options) => Promise<ZipFile>

/** Unpacks a zip file below `root`; entries take the place of what is there. Links are made last: no file is written through one of them. */
export async function readZip(path: string, root: string): Promise<void> {
  const zip = await openZip(path, { lazyEntries: true, autoClose: false })
  const links: { readonly path: string; readonly target: string }[] = []
  try {
    for await (const entry of entriesOf(zip)) {
      const target = join(root, entry.fileName)
      const mode = entry.externalFileAttributes >>> 16
      if (entry.fileName.endsWith('/')) await mkdir(target, { recursive: true })
      else {
        const content = await contentOf(zip, entry)
        if ((mode & KIND) !== LINK) await place(content, target, mode)
        else if (entry.uncompressedSize <= MAX_LINK_BYTES)
          links.push({ path: target, target: await text(content) })
      }
    }
    for (const link of links) {
      await mkdir(dirname(link.path), { recursive: true })
      await rm(link.path, { recursive: true, force: true })
      await symlink(link.target, link.path)
    }
  } finally {
    zip.close()
  }
}

async function place(content: Readable, target: string, mode: number): Promise<void> {
  await mkdir(dirname(target), { recursive: true })
  await rm(target, { recursive: true, force: true })
  await pipeline(content, createWriteStream(target, { flags: 'wx', mode: mode & 0o777 || 0o644 }))
}

async function* entriesOf(zip: ZipFile): AsyncGenerator<Entry> {
  for (;;) {
    const entry = await new Promise<Entry | undefined>((resolve, reject) => {
      const settle = (act: () => void): void => {
        zip.removeAllListeners('entry').removeAllListeners('end').removeAllListeners('error')
        act()
      }
      zip.once('entry', (found: Entry) => settle(() => resolve(found)))
      zip.once('end', () => settle(() => resolve(undefined)))
      zip.once('error', (error: Error) => settle(() => reject(error)))
      zip.readEntry()
    })
    if (entry === undefined) return
    yield entry
  }
}

const contentOf = (zip: ZipFile, entry: Entry): Promise<Readable> =>
  new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) => (error ? reject(error) : resolve(stream)))
  })
