import { createHash } from 'node:crypto'

/** The digests of a file, in lower-case hexadecimal, and its bytes. */
export interface Digests {
  readonly sha256: string
  readonly sha1: string
  readonly md5: string
  readonly size: number
}

/** The body of a blob went past the limit that its writer set, in bytes. */
export class BlobTooLarge extends Error {
  readonly limit: number
  constructor(limit: number) {
    super(`a blob is larger than ${limit} bytes`)
    this.limit = limit
  }
}

/** Passes a body on and digests it on the way. `digests` is complete when the body has ended. */
export function digesting(
  body: AsyncIterable<Uint8Array>,
  limit: number,
): { readonly body: AsyncIterable<Uint8Array>; readonly digests: () => Digests } {
  const [sha256, sha1, md5] = [createHash('sha256'), createHash('sha1'), createHash('md5')]
  let size = 0
  return {
    body: (async function* () {
      for await (const chunk of body) {
        size += chunk.length
        if (size > limit) throw new BlobTooLarge(limit)
        for (const hash of [sha256, sha1, md5]) hash.update(chunk)
        yield chunk
      }
    })(),
    digests: () => ({ sha256: sha256.digest('hex'), sha1: sha1.digest('hex'), md5: md5.digest('hex'), size }),
  }
}
