import { request as requestPlain, Agent as PlainAgent, type IncomingMessage } from 'node:http'
import { request as requestSecure, Agent as SecureAgent } from 'node:https'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** A request of the runner; `stream` has exactly `length` bytes. */
export interface Sent {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array | { readonly stream: Readable; readonly length: number }
  /** Milliseconds without a byte, after which the connection is given up. */
  readonly silence?: number
  readonly signal?: AbortSignal | undefined
}

const plain = new PlainAgent({ keepAlive: true })
const secure = new SecureAgent({ keepAlive: true })

/** The answer's head; its body is yet to be read. Rejects where the server cannot be reached. */
export function send({
  method,
  url,
  headers,
  body,
  silence = 60_000,
  signal,
}: Sent): Promise<IncomingMessage> {
  const isSecure = url.startsWith('https:')
  const length = body === undefined ? 0 : 'stream' in body ? body.length : body.byteLength
  return new Promise((resolve, reject) => {
    const options = {
      method,
      headers: { ...headers, ...(body !== undefined && { 'content-length': String(length) }) },
      ...(signal && { signal }),
    }
    const request = isSecure
      ? requestSecure(url, { ...options, agent: secure })
      : requestPlain(url, { ...options, agent: plain })
    request.once('response', resolve)
    request.once('error', reject)
    request.setTimeout(silence, () => request.destroy(new Error('the server is silent')))
    if (body === undefined) request.end()
    else if ('stream' in body) void pipeline(body.stream, request).catch(reject)
    else request.end(body)
  })
}

/** The most bytes of an answer that are read into memory. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024

export async function textOf(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response) {
    size += (chunk as Buffer).length
    if (size > MAX_ANSWER_BYTES) throw new Error('the answer is too long')
    chunks.push(chunk as Buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}
