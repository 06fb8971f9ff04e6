import { hash } from 'node:crypto'

/** The opaque part of the ETag of an answer, the same for its text and for its bytes. */
export const tagOf = (text: string | Buffer): string => hash('sha1', text, 'base64url')

/** Whether an `If-Match` or `If-None-Match` names the tag, weak or strong, or is `*`. */
export const names = (header: string, tag: string): boolean =>
  header.trim() === '*' || header.includes(`"${tag}"`)
