import { mkdir, open, rm, stat } from 'node:fs/promises'
import { createReadStream } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { crc32 } from 'node:zlib'

/** Job logs: one file each, that grows. */
export interface Traces {
  /** Bytes of the log; 0 where there is none. */
  size(jobId: number): Promise<number>
  /**
   * Appends to the log where it is `offset` bytes long. The bytes are durable when it resolves with the new size;
   * undefined where the log has another length.
   */
  append(jobId: number, offset: number, bytes: Uint8Array): Promise<number | undefined>
  read(jobId: number): Promise<Readable | undefined>
  /** The last bytes of the log as text. */
  tail(jobId: number, bytes: number): Promise<string>
  /** CRC-32 of the whole log. */
  checksum(jobId: number): Promise<number>
  remove(jobId: number): Promise<void>
}

/** Keeps logs below `directory`. */
export function openTraces(directory: string): Traces {
  const pathOf = (id: number): string =>
    join(directory, (id % 256).toString(16).padStart(2, '0'), `${id}.log`)
  const size = async (id: number): Promise<number> =>
    stat(pathOf(id)).then(
      (found) => found.size,
      () => 0,
    )
  return {
    size,
    append: async (id, offset, bytes) => {
      const path = pathOf(id)
      if (offset === 0) await mkdir(dirname(path), { recursive: true, mode: 0o700 })
      const file = await open(path, offset === 0 ? 'a' : 'r+', 0o600).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return undefined
          throw error
        },
      )
      if (file === undefined) return undefined
      try {
        if ((await file.stat()).size !== offset) return undefined
        await file.write(bytes, 0, bytes.byteLength, offset)
        await file.datasync()
        return offset + bytes.byteLength
      } finally {
        await file.close()
      }
    },
    read: async (id) => ((await size(id)) === 0 ? undefined : createReadStream(pathOf(id))),
    tail: async (id, bytes) => {
      const length = await size(id)
      if (length === 0) return ''
      const parts: Buffer[] = []
      for await (const part of createReadStream(pathOf(id), {
        start: Math.max(0, length - bytes),
        end: length - 1,
      }))
        parts.push(part as Buffer)
      return Buffer.concat(parts).toString()
    },
    checksum: async (id) => {
      if ((await size(id)) === 0) return 0
      let sum = 0
      for await (const chunk of createReadStream(pathOf(id))) sum = crc32(chunk as Buffer, sum)
      return sum
    },
    remove: (id) => rm(pathOf(id), { force: true }),
  }
}
