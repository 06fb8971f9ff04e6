import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { AwsClient } from 'aws4fetch'
import type { Bucket } from '../config_values.ts'
import { StorageAway } from './storage.ts'

/** Milliseconds until the headers of an answer must be there. */
const PATIENCE = 30_000
/** Milliseconds before each further try of a request that failed for the moment. */
const PAUSES = [100, 400]

export interface S3Request {
  readonly method: 'GET' | 'HEAD' | 'PUT' | 'POST' | 'DELETE'
  /** Undefined: the bucket itself. */
  readonly key?: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Uint8Array<ArrayBuffer>
  readonly patience?: number
  readonly tries?: number
}

/** An answer whose status the caller did not ask for. */
export class S3Refusal extends StorageAway {
  readonly status: number
  /** Such as `NoSuchKey`; '' where the server gave none. */
  readonly code: string
  constructor(request: S3Request, status: number, code: string) {
    super(`the blob store answered ${request.method} with ${status} ${code}`.trimEnd())
    this.status = status
    this.code = code
  }
}

/** The blob store has no room: told by the code that a full disk has. */
class S3Full extends Error {
  readonly code = 'ENOSPC'
}

const isPassing = (status: number): boolean =>
  status === 429 || (status >= 500 && status !== 501 && status !== 507)

export type Send = (request: S3Request) => Promise<Response>

/**
 * Makes the function that sends a request, path style, and answers a response that succeeded, its body unread. It tries
 * again where the server fails for the moment. The server compares each body with the SHA-256 digest in its signature.
 */
export function openBucket({ endpoint, name, ...credentials }: Bucket): Send {
  const client = new AwsClient({ ...credentials, service: 's3' } as ConstructorParameters<
    typeof AwsClient
  >[0])
  const sendOnce = async (request: S3Request): Promise<Response> => {
    const { method, key, query = {}, headers, body, patience = PATIENCE } = request
    const url = new URL(`${endpoint}/${name}${key === undefined ? '' : `/${key}`}`)
    url.search = new URLSearchParams(query).toString()
    const digest = createHash('sha256')
      .update(body ?? '')
      .digest('hex')
    const late = new AbortController()
    const timer = setTimeout(() => late.abort(new Error('no answer in time')), patience)
    try {
      const signed = await client.sign(url.href, {
        method,
        headers: { ...headers, 'x-amz-content-sha256': digest },
        ...(body !== undefined && { body }),
      })
      return await fetch(signed, { signal: late.signal, redirect: 'manual' })
    } catch (cause) {
      const reason = cause instanceof Error ? (cause.cause ?? cause) : cause
      throw new StorageAway(`the blob store is away: ${String(reason)}`, { cause })
    } finally {
      clearTimeout(timer)
    }
  }
  return async (request) => {
    for (let tried = 1; ; tried += 1) {
      const isLast = tried >= (request.tries ?? PAUSES.length + 1)
      const answer = await sendOnce(request).catch((error: unknown) => {
        if (isLast) throw error
        return undefined
      })
      if (answer?.ok) return answer
      const text = await answer?.text().catch(() => '')
      if (answer !== undefined && (isLast || !isPassing(answer.status))) {
        const code = /<Code>(\w+)<\/Code>/.exec(text ?? '')?.[1] ?? ''
        if (answer.status === 507) throw new S3Full(`the blob store is full: ${code}`)
        throw new S3Refusal(request, answer.status, code)
      }
      await sleep(PAUSES[tried - 1] ?? 0)
    }
  }
}

/** Sends a request whose answer says nothing more: a connection is free again once its body is read. */
export async function sendQuietly(send: Send, request: S3Request): Promise<Response> {
  const answer = await send(request)
  await answer.arrayBuffer().catch(() => {})
  return answer
}

/** Resolves where what was to be removed is not there. */
export async function removing(request: Promise<unknown>): Promise<void> {
  await request.catch((error: unknown) => {
    const isGone = error instanceof S3Refusal && /^NoSuch(Key|Upload)$/.test(error.code)
    if (!isGone) throw error
  })
}
