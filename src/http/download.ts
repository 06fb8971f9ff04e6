import type { Readable } from 'node:stream'
import { Type as t, type TUnsafe } from 'typebox'
import { Answer } from './operation.ts'

/** Bytes as they are; `open` is called only if they are sent. An `etag` among the headers is compared with the caller's. */
export class Download extends Answer {
  readonly open: () => Promise<Readable>
  constructor(headers: Readonly<Record<string, string>>, open: () => Promise<Readable>) {
    super(200, null, headers)
    this.open = open
  }
}

/** The schema of an answer that a Download gives. */
export const bytes = (): TUnsafe<never> => t.Unsafe({ type: 'string', format: 'binary' })
