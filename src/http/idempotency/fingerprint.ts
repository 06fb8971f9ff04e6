import { createHash } from 'node:crypto'
import type { Visit } from '../entry.ts'
import { LongText } from '../params/long_text.ts'

/** Parameters that say who calls, not what for. */
const CREDENTIALS = new Set(['private_token', 'access_token', 'job_token'])

/** The SHA-256 of a request: its method, address and parameters, and of a file its length. */
export async function fingerprintOf(visit: Visit, address: string, actor: string): Promise<Buffer> {
  const longTexts: LongText[] = []
  const sent = JSON.stringify(visit.sent, (name, value: unknown) => {
    if (CREDENTIALS.has(name)) return undefined
    return value instanceof LongText ? { longText: longTexts.push(value) } : value
  })
  const length = visit.headers['content-length'] ?? ''
  const isFile = sent === '{}' ? length : ''
  const hash = createHash('sha256').update(JSON.stringify([visit.method, address, actor, isFile, sent]))
  for (const text of longTexts) for await (const chunk of text.chunks()) hash.update(chunk)
  return hash.digest()
}
