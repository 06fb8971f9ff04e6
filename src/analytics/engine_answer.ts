/** An answer of the analytics engine: a JSON object. */
export type EngineAnswer = Readonly<Record<string, unknown>>

/** `missing` where the engine has no database for the project yet, `refused` where it refuses the query, else `bad`. */
export class EngineFault extends Error {
  readonly kind: 'missing' | 'refused' | 'bad'
  constructor(kind: EngineFault['kind'], text: string) {
    super(text)
    this.kind = kind
  }
}

/** The engine is still computing: clients ask again. */
const CONTINUE_WAIT = 'Continue wait'
const MISSING = /^Error: Code: (81|60)\..*(UNKNOWN_DATABASE|UNKNOWN_TABLE)/
/** Deeper JSON overflows the stack of the serialiser. */
const MAX_DEPTH = 100

/** Reads a response of the engine. Throws EngineFault for an error, and for what is no answer. */
export function readAnswer(status: number, body: Buffer): EngineAnswer {
  const answer = parse(body)
  const { error } = answer
  if (error === CONTINUE_WAIT) return { error }
  if (error !== undefined && error !== null && error !== '') {
    const text = typeof error === 'string' ? error : JSON.stringify(error)
    if (MISSING.test(text)) throw new EngineFault('missing', '404 Clickhouse Database Not Found')
    throw new EngineFault('refused', text)
  }
  if (status !== 200) throw new EngineFault('bad', `The analytics engine responded with status ${status}`)
  return answer
}

function parse(body: Buffer): EngineAnswer {
  const notJson = new EngineFault('bad', 'The analytics engine did not respond with JSON')
  if (isDeeper(body, MAX_DEPTH)) throw notJson
  try {
    const value: unknown = JSON.parse(body.toString())
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as EngineAnswer
  } catch {
    // The engine's text may hold anything: it is not repeated.
  }
  throw notJson
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c]
const OPENING = new Set([0x5b, 0x7b])
const CLOSING = new Set([0x5d, 0x7d])

/** One pass over the bytes, without recursion. */
function isDeeper(bytes: Buffer, limit: number): boolean {
  let [depth, inText] = [0, false]
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0
    if (inText && byte === BACKSLASH) i++
    else if (byte === QUOTE) inText = !inText
    else if (!inText && OPENING.has(byte) && ++depth > limit) return true
    else if (!inText && CLOSING.has(byte)) depth--
  }
  return false
}
