import type { Readable } from 'node:stream'
import { Type as t, type TUnsafe } from 'typebox'
import { Answer } from '../operation.ts'

type Open = (range?: { readonly start: number; readonly end: number }) => Promise<Readable>

/**
 * Bytes as they are; `open` is called only if they are sent. An `etag` among the headers is compared with the caller's.
 * With a `size`, in bytes, callers may ask for a range, which `open` gets.
 */
export class Download extends Answer {
  readonly open: Open
  readonly size: number | undefined
  constructor(headers: Readonly<Record<string, string>>, open: Open, size?: number) {
    super(200, null, headers)
    this.open = open
    this.size = size
  }
}

/** The schema of an answer that a Download gives. */
export const bytes = (): TUnsafe<never> => t.Unsafe({ type: 'string', format: 'binary' })
