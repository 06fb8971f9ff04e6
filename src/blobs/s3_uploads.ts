import { removing, sendQuietly, type Send } from './s3_requests.ts'
import { StorageAway } from './storage.ts'

/** Bytes of all parts of a multipart upload but the last: the least that S3 takes. Each write holds one part in memory. */
const PART_BYTES = 5 * 1024 * 1024

/** Milliseconds that a server may take to put the parts of an upload together. */
const COMPLETION_PATIENCE = 300_000

interface Uploads {
  /** Sends the parts of a body one after the other; what breaks off is aborted. */
  put(key: string, parts: AsyncGenerator<Part, void>, first: Part): Promise<void>
  /** Removes the parts of an upload. Resolves where there is none. */
  abort(key: string, uploadId: string): Promise<void>
}

/** Makes the functions of multipart uploads. */
export function createUploads(send: Send): Uploads {
  const abort: Uploads['abort'] = (key, uploadId) =>
    removing(sendQuietly(send, { method: 'DELETE', key, query: { uploadId } }))
  return {
    abort,
    put: async (key, parts, first) => {
      const begun = await (await send({ method: 'POST', key, query: { uploads: '' } })).text()
      const [uploadId] = uploadIdsIn(begun)
      if (uploadId === undefined) throw new StorageAway('the blob store began no multipart upload')
      try {
        const tags: string[] = []
        for (let part: Part | void = first; part; part = (await parts.next()).value) {
          const query = { partNumber: String(tags.length + 1), uploadId }
          const answer = await sendQuietly(send, { method: 'PUT', key, query, body: part.bytes })
          tags.push(answer.headers.get('etag') ?? '')
        }
        await complete(send, { key, uploadId, tags })
      } catch (error) {
        // An upload that cannot be aborted now is found by its row later.
        await abort(key, uploadId).catch(() => {})
        throw error
      }
    },
  }
}

async function complete(
  send: Send,
  {
    key,
    uploadId,
    tags,
  }: { readonly key: string; readonly uploadId: string; readonly tags: readonly string[] },
): Promise<void> {
  const parts = tags.map(
    (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`,
  )
  const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`)
  const patience = COMPLETION_PATIENCE
  const text = await (await send({ method: 'POST', key, query: { uploadId }, body, patience })).text()
  // It may fail after the status was sent.
  if (!text.includes('<CompleteMultipartUploadResult'))
    throw new StorageAway(`the blob store completed no upload: ${/<Code>(\w+)/.exec(text)?.[1] ?? ''}`)
}

export const uploadIdsIn = (xml: string): string[] =>
  [...xml.matchAll(/<UploadId>([^<]+)<\/UploadId>/g)].map(([, id = '']) => id)

interface Part {
  readonly bytes: Buffer<ArrayBuffer>
  readonly isLast: boolean
}

/** Cuts a body into parts of equal length, of which the last, which may be empty, is the only one where it fits into one. */
export async function* partsOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Part, void> {
  let held: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    let rest = chunk
    while (rest.length > 0) {
      if (size === PART_BYTES) {
        const bytes = Buffer.concat(held)
        held = []
        size = 0
        yield { bytes, isLast: false }
      }
      const taken = rest.subarray(0, PART_BYTES - size)
      held.push(taken)
      size += taken.length
      rest = rest.subarray(taken.length)
    }
  }
  yield { bytes: Buffer.concat(held), isLast: true }
}
