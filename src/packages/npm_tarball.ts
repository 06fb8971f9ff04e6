import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Parser, type ReadEntry } from 'tar'

const MIB = 1024 * 1024
/** Bytes of a `package.json` that is read, as published. */
const MAX_PACKAGE_JSON = 4 * MIB
/** Bytes of an unpacked tarball that are searched. */
const MAX_UNPACKED = 1024 * MIB
/** Bytes by which the tar parser decides whether it must unpack by itself, which it does on the event loop. */
const HEADER = 512
const GZIP = 0x8b1f

/** The `package.json` of a gzipped tarball: the last one, which an install keeps. Undefined where there is none to read. */
export async function readPackageJson(
  tarball: Readable,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  const found: Promise<Buffer>[] = []
  const parser = new Parser({
    brotli: false,
    zstd: false,
    filter: (path) => /^(?:\.\/)?[^/]+\/package\.json$/.test(path),
    onReadEntry: (entry: ReadEntry) => {
      if (entry.size <= MAX_PACKAGE_JSON) found.push(entry.concat())
      else entry.resume()
    },
  })
  const unpacked = createGunzip()
  // `pipe` does not pass errors on.
  tarball.once('error', (error) => unpacked.destroy(error)).pipe(unpacked)
  try {
    let size = 0
    let held = Buffer.alloc(0)
    for await (const chunk of unpacked as AsyncIterable<Buffer>) {
      held = Buffer.concat([held, chunk])
      if (held.length < HEADER) continue
      if (size === 0 && held.readUInt16LE() === GZIP) return undefined
      size += held.length
      if (size > MAX_UNPACKED) return undefined
      if (!parser.write(held)) await once(parser, 'drain')
      held = Buffer.alloc(0)
    }
    parser.end()
    const last = await found.at(-1)
    const parsed: unknown = last === undefined ? undefined : JSON.parse(last.toString())
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : undefined
  } catch (error) {
    if (isBroken(error)) return undefined
    throw error
  } finally {
    tarball.destroy()
  }
}

/** A tarball that cannot be unpacked or parsed, unlike one that cannot be read. */
const isBroken = (error: unknown): boolean =>
  error instanceof SyntaxError || String((error as NodeJS.ErrnoException).code).startsWith('Z_')
