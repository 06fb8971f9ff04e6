import { Transform, type Readable, type TransformCallback } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { GitRefusal } from '../access/git_access.ts'

/** Passes bytes on up to a limit, and fails with GitRefusal 413 past it. */
class Meter extends Transform {
  #left: number

  constructor(limit: number) {
    super()
    this.#left = limit
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.#left -= chunk.length
    if (this.#left < 0) done(new GitRefusal(413, 'The request is larger than it may be.'))
    else done(null, chunk)
  }
}

/**
 * The body of a git client's request as it was before it was compressed: at most `limit` bytes, counted after inflating.
 * Throws GitRefusal 415 for a compression or type that git does not use.
 */
export function openBody(request: FastifyRequest, type: string, limit: number): Readable {
  const { headers, raw } = request
  if (headers['content-type'] !== type) throw new GitRefusal(415, `This address takes ${type}.`)
  const encoding = headers['content-encoding'] ?? 'identity'
  const meter = new Meter(limit)
  // Each stream passes its end and its fault on; what is left of the request is the server's to throw away.
  const into = (from: Readable, to: Transform): Transform => {
    from.once('error', (error) => to.destroy(error))
    from.once('aborted', () => to.destroy(new GitRefusal(400, 'The request ended early.')))
    return from.pipe(to)
  }
  if (encoding === 'identity') return into(raw, meter)
  if (encoding !== 'gzip' && encoding !== 'x-gzip')
    throw new GitRefusal(415, 'Request bodies are compressed with gzip or not at all.')
  return into(into(raw, createGunzip()), meter)
}
