import { Readable } from 'node:stream'
import type { Bucket } from '../config_values.ts'
import { S3Refusal, openBucket, removing, sendQuietly } from './s3_requests.ts'
import { createUploads, partsOf, uploadIdsIn } from './s3_uploads.ts'
import { StorageAway, type BlobStorage } from './storage.ts'

/** Milliseconds that readiness waits for an answer. */
const CHECK_PATIENCE = 3_000

/**
 * Objects in a bucket, under keys like the paths of files on disk, so that a folder of blobs can be copied there. A body of
 * one part is one PUT; a longer one is a multipart upload, which shows nothing before it is complete.
 */
export function openS3(bucket: Bucket): BlobStorage {
  const send = openBucket(bucket)
  const keyOf = (location: string): string => `${bucket.prefix}${location.slice(0, 2)}/${location}`
  const uploads = createUploads(send)
  return {
    put: async (location, body) => {
      const key = keyOf(location)
      const parts = partsOf(body)
      try {
        const { value: first } = await parts.next()
        if (first?.isLast === false) return await uploads.put(key, parts, first)
        await sendQuietly(send, { method: 'PUT', key, body: first?.bytes ?? Buffer.alloc(0) })
      } finally {
        await parts.return()
      }
    },
    get: async (location, range) => {
      const headers = range && { range: `bytes=${range.start}-${range.end}` }
      const answer = await send({ method: 'GET', key: keyOf(location), ...(headers && { headers }) }).catch(
        (error: unknown) => {
          const isMissing = error instanceof S3Refusal && error.code === 'NoSuchKey'
          throw isMissing ? new Error(`the blob store has no object ${location}`, { cause: error }) : error
        },
      )
      if (range !== undefined && answer.status !== 206)
        throw new StorageAway('the blob store sends no ranges')
      return answer.body === null ? Readable.from([]) : Readable.fromWeb(answer.body)
    },
    remove: async (location) => {
      const key = keyOf(location)
      await removing(sendQuietly(send, { method: 'DELETE', key }))
      const query = { uploads: '', prefix: key }
      for (const uploadId of uploadIdsIn(await (await send({ method: 'GET', query })).text()))
        await uploads.abort(key, uploadId)
    },
    check: async () => {
      await sendQuietly(send, { method: 'HEAD', patience: CHECK_PATIENCE, tries: 1 })
    },
  }
}
