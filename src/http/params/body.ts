import { Busboy } from '@fastify/busboy'
import { emptyTree, isTree, nest, parseForm, type Tree, type Value } from './forms.ts'
import type { LongTexts } from './long_text.ts'
import { badBody, bodyTooComplex, noFileUploads, unsupportedMediaType } from '../problems.ts'

/** Limits of a JSON body, checked on the bytes before parsing. */
interface JsonLimits {
  readonly depth: number
  readonly members: number
  readonly elements: number
}
const LIMITS: JsonLimits = { depth: 32, members: 50_000, elements: 100_000 }

/**
 * Reads a request body by its media type into nested parameters, `texts` put back where they were taken out.
 * Throws a Problem for what it does not take.
 */
export async function readBody(
  bytes: Buffer,
  contentType: string | undefined,
  texts?: LongTexts,
): Promise<Tree> {
  if (bytes.length === 0) return emptyTree()
  const type = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  switch (type) {
    case 'application/json':
      return readJson(bytes, texts)
    case 'application/x-www-form-urlencoded':
      return parseForm(text(bytes), badBody)
    case 'multipart/form-data':
      return readMultipart(bytes, contentType ?? '')
    default:
      throw unsupportedMediaType(type)
  }
}

/** Parses an object; `{}` for white space alone, and for `null`: typed clients send it where no option was given. */
function readJson(bytes: Buffer, texts: LongTexts | undefined): Tree {
  checkJson(bytes, LIMITS)
  const source = text(bytes)
  if (source.trim() === '') return emptyTree()
  const value = parse(source, texts)
  if (value === null) return emptyTree()
  if (!isTree(value)) throw badBody()
  return value
}

/** The value of a JSON body that may be nested `depth` deep; undefined for an empty body. Throws a Problem. */
export function jsonOf(bytes: Buffer, depth: number): unknown {
  checkJson(bytes, { ...LIMITS, depth })
  const source = text(bytes)
  return source.trim() === '' ? undefined : parse(source, undefined)
}

/** The value of JSON that came as the text of a parameter, within the limits of a body; undefined when it is none. */
export function jsonIn(source: string): Value | undefined {
  checkJson(Buffer.from(source), LIMITS)
  try {
    return JSON.parse(source) as Value
  } catch {
    return undefined
  }
}

function parse(source: string, texts: LongTexts | undefined): unknown {
  try {
    if (texts === undefined || texts.found.length === 0) return JSON.parse(source)
    const { mark, found } = texts
    return JSON.parse(source, (_, value: unknown) =>
      typeof value === 'string' && value.startsWith(mark) ? found[Number(value.slice(mark.length))] : value,
    )
  } catch {
    throw badBody()
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })
function text(bytes: Buffer): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw badBody()
  }
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPEN = new Set([0x5b, 0x7b])
const CLOSE = new Set([0x5d, 0x7d])

/** One pass over the bytes, without recursion: a body that would be costly to parse is refused unparsed. */
function checkJson(bytes: Buffer, limits: JsonLimits): void {
  const commas = new Uint32Array(limits.depth + 1)
  let depth = 0
  let elements = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if (byte === QUOTE) i = endOfString(bytes, i)
    else if (OPEN.has(byte)) {
      if (++depth > limits.depth) throw bodyTooComplex(`${limits.depth} levels`)
      commas[depth] = 0
      elements++
    } else if (CLOSE.has(byte)) depth = Math.max(0, depth - 1)
    else if (byte === COMMA) {
      elements++
      commas[depth] = (commas[depth] ?? 0) + 1
      if ((commas[depth] ?? 0) >= limits.members) throw bodyTooComplex(`${limits.members} members`)
    } else continue
    if (elements > limits.elements) throw bodyTooComplex(`${limits.elements} elements`)
  }
}

function endOfString(bytes: Buffer, start: number): number {
  for (let end = bytes.indexOf(QUOTE, start + 1); end !== -1; end = bytes.indexOf(QUOTE, end + 1)) {
    let slashes = 0
    while (bytes[end - 1 - slashes] === BACKSLASH) slashes++
    if (slashes % 2 === 0) return end
  }
  return bytes.length
}

function readMultipart(bytes: Buffer, contentType: string): Promise<Tree> {
  return new Promise((resolve, reject) => {
    const pairs: [string, string][] = []
    try {
      const parser = new Busboy({
        headers: { 'content-type': contentType },
        limits: { fields: 50_000, fieldSize: bytes.length, files: 0 },
      })
      parser.on('field', (name, value) => pairs.push([name, value]))
      parser.on('filesLimit', () => reject(noFileUploads()))
      parser.on('fieldsLimit', () => reject(bodyTooComplex('50000 parameters')))
      parser.on('error', () => reject(badBody()))
      parser.on('finish', () => resolve(nest(pairs)))
      parser.end(bytes)
    } catch {
      reject(badBody())
    }
  })
}
