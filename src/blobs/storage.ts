import type { Readable } from 'node:stream'

/** Bytes of a file, counted from 0, both ends included. */
export interface Range {
  readonly start: number
  readonly end: number
}

/** Where the bytes of blobs lie. A location is a name of letters and digits, never used twice. */
export interface BlobStorage {
  /** Writes a file. It is durable, name and bytes, when the promise resolves. */
  put(location: string, body: AsyncIterable<Uint8Array>): Promise<void>
  /** Rejects when there is no such file. */
  get(location: string, range?: Range): Promise<Readable>
  /** Removes a file, or what a failed `put` left of it. Resolves when there is none. */
  remove(location: string): Promise<void>
  /** Rejects with `StorageAway` while the storage cannot be used. */
  check(): Promise<void>
}

/** The storage did not answer, or refused its credentials: the same request may succeed later. */
export class StorageAway extends Error {}
