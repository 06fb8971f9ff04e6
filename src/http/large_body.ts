import { randomBytes } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform, type Readable, type TransformCallback } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Instance } from '../instance.ts'
import { LongText, type LongTexts } from './long_text.ts'
import { Problem, badBody, bodyTooLarge, tooManyLargeBodies } from './problems.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The texts that were taken out of the body, and lie on disk. */
    longTexts: LongTexts | undefined
  }
}

const MB = 1024 * 1024
/** Bytes of a body up to which it is read like any other. */
const SMALL = MB
/** Bytes from which a body counts against those that are worked on at once. */
const LARGE = 20 * MB
const LARGE_AT_ONCE = 3
/** Bytes that stay in memory of a body whose long texts are on disk, and of any body that is no JSON. */
const KEPT = 32 * MB

/** What a route needs that takes bodies of up to `limit` bytes; `knock` throws for who may not send one. */
export function largeBody(
  limit: number,
  { config }: Pick<Instance, 'config'>,
  knock: (request: FastifyRequest) => Promise<void>,
): {
  bodyLimit: number
  preParsing: (request: FastifyRequest, reply: FastifyReply, payload: Readable) => Promise<Readable>
} {
  let underWay = 0
  const admit = (reply: FastifyReply, declared: number): void => {
    if (declared < LARGE) return
    if (underWay >= LARGE_AT_ONCE) throw tooManyLargeBodies()
    underWay += 1
    reply.raw.once('close', () => (underWay -= 1))
  }
  return {
    bodyLimit: limit,
    preParsing: async (request, reply, payload) => {
      const declared = Number(request.headers['content-length'] ?? Infinity)
      if (declared <= SMALL) return payload
      try {
        if (Number.isFinite(declared) && declared > limit) throw bodyTooLarge()
        await knock(request)
        admit(reply, declared)
        return await takeApart(request, reply, payload, config.dataDir)
      } catch (error) {
        // What was not read must not be taken for the next request.
        if (error instanceof Problem) reply.header('connection', 'close')
        throw error
      }
    },
  }
}

async function takeApart(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: Readable,
  directory: string,
): Promise<Readable> {
  const isJson = /^application\/json\b/i.test(request.headers['content-type'] ?? '')
  const file = isJson ? await openNameless(directory) : undefined
  const sieve = new Sieve(file)
  if (file !== undefined) {
    request.longTexts = sieve.texts
    reply.raw.once('close', () => void sieve.settled().then(() => file.close()))
  }
  payload.on('error', (error) => sieve.destroy(error))
  return payload.pipe(sieve)
}

/** A file that nothing is left of, however this process ends. */
async function openNameless(directory: string): Promise<FileHandle> {
  const path = join(directory, `.body-${randomBytes(8).toString('hex')}`)
  const file = await open(path, 'wx+', 0o600)
  await rm(path)
  return file
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const SPACE = 0x20
/** Bytes of a text from which it is put on disk. */
const LONG = 16 * 1024
/** The only name under which a text may be long. */
const APART = 'content'

/**
 * Lets JSON through as it comes, but for the long texts named `content`: these go to the file, and what stands for them
 * in the JSON tells which they are. It does not check JSON: what comes out is parsed afterwards.
 */
class Sieve extends Transform {
  readonly texts: LongTexts
  /** Bytes that came in; read by the framework, which counts them against the limit. */
  receivedEncodedLength = 0
  readonly #file: FileHandle | undefined
  #kept = 0
  #written = 0
  #inText = false
  #escaped = false
  /** The bytes of the text that is being read, while it may still be short. */
  #held: Buffer[] = []
  #heldBytes = 0
  #last = ''
  #name = ''
  /** Where in the file the long text that is being read began. */
  #start: number | undefined
  #writes: Promise<unknown> = Promise.resolve()

  constructor(file: FileHandle | undefined) {
    super()
    this.#file = file
    this.texts = { mark: `\u0001${randomBytes(12).toString('hex')}:`, found: [] }
  }

  /** Resolves when nothing is being written any more. */
  settled(): Promise<unknown> {
    return this.#writes.catch(() => {})
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    this.receivedEncodedLength += chunk.length
    if (this.#file === undefined) {
      this.#keep(chunk)
      return this.#next(done)
    }
    this.#writes = this.#sift(chunk, this.#file)
    this.#writes.then(() => this.#next(done), done)
  }

  #next(done: TransformCallback): void {
    if (this.#kept > KEPT) done(bodyTooLarge())
    else done()
  }

  #keep(bytes: Buffer): void {
    this.#kept += bytes.length
    this.push(bytes)
  }

  async #sift(chunk: Buffer, file: FileHandle): Promise<void> {
    let at = 0
    while (at < chunk.length) {
      if (this.#inText) {
        const end = this.#endOfText(chunk, at)
        await this.#read(chunk.subarray(at, end ?? chunk.length), file)
        if (end !== undefined) this.#endText()
        at = end === undefined ? chunk.length : end + 1
      } else {
        const open = chunk.indexOf(QUOTE, at)
        const between = chunk.subarray(at, open === -1 ? chunk.length : open + 1)
        if (between.includes(COLON)) this.#name = this.#last
        this.#keep(between)
        this.#inText = open !== -1
        at += between.length
      }
    }
  }

  /** The index of the quote that ends the text, or undefined when it goes on in the next chunk. */
  #endOfText(chunk: Buffer, from: number): number | undefined {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at] ?? 0
      if (byte < SPACE) throw badBody()
      if (this.#escaped) this.#escaped = false
      else if (byte === BACKSLASH) this.#escaped = true
      else if (byte === QUOTE) return at
    }
    return undefined
  }

  async #read(bytes: Buffer, file: FileHandle): Promise<void> {
    if (this.#start === undefined) {
      this.#held.push(bytes)
      this.#heldBytes += bytes.length
      if (this.#heldBytes < LONG || this.#name !== APART) return this.#checkHeld()
      this.#start = this.#written
      await this.#write(Buffer.concat(this.#held), file)
      this.#held = []
    } else await this.#write(bytes, file)
  }

  #checkHeld(): void {
    if (this.#kept + this.#heldBytes > KEPT) throw bodyTooLarge()
  }

  async #write(bytes: Buffer, file: FileHandle): Promise<void> {
    await file.write(bytes, 0, bytes.length, this.#written)
    this.#written += bytes.length
  }

  #endText(): void {
    if (this.#start === undefined || this.#file === undefined) {
      const text = Buffer.concat(this.#held)
      this.#last = text.length <= APART.length ? text.toString('latin1') : ''
      this.#keep(text)
    } else {
      const { mark, found } = this.texts
      // The mark begins with a control character as JSON writes it.
      this.#keep(Buffer.from(`\\u0001${mark.slice(1)}${found.length}`))
      found.push(new LongText(this.#file, this.#start, this.#written - this.#start))
      this.#last = ''
    }
    this.#keep(Buffer.from('"'))
    this.#held = []
    this.#heldBytes = 0
    this.#start = undefined
    this.#inText = false
  }
}
