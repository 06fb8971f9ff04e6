// Secrets never reach a log: they are taken out of its bytes before these are sent.

const MASKED = Buffer.from('[MASKED]')
/** The characters of a token behind its prefix. */
const isTokenByte = (byte: number): boolean =>
  (byte >= 0x30 && byte <= 0x39) ||
  (byte >= 0x41 && byte <= 0x5a) ||
  (byte >= 0x61 && byte <= 0x7a) ||
  byte === 0x2d ||
  byte === 0x2e ||
  byte === 0x5f
/** Values of fewer bytes would take ordinary text away. */
const MIN_VALUE_BYTES = 4
/** Bytes of a token after which it is cut: without an end it would be held back for ever. */
const MAX_TOKEN_BYTES = 512

export interface Mask {
  /** The masked bytes that are safe to show; a possible beginning of a secret is held back. */
  readonly push: (chunk: Buffer) => Buffer
  /** The held-back bytes. */
  readonly end: () => Buffer
}

/** Replaces each of the values, and each token with one of the prefixes, wherever the chunks are cut. */
export function createMask(values: readonly string[], prefixes: readonly string[]): Mask {
  const secrets = [...new Set(values.flatMap((value) => [value, ...value.split('\n')]))]
    .map((value) => Buffer.from(value.trim()))
    .filter((value) => value.length >= MIN_VALUE_BYTES)
    .toSorted((a, b) => b.length - a.length)
  const heads = prefixes.filter((prefix) => prefix.length >= 3).map((prefix) => Buffer.from(prefix))
  const starts = new Set([...secrets, ...heads].map((each) => each[0] ?? -1))
  let held: Buffer = Buffer.alloc(0)
  const scan = (isLast: boolean): Buffer => {
    const shown: Buffer[] = []
    let from = 0
    let at = 0
    while (at < held.length) {
      const found = starts.has(held[at] ?? -1) ? secretAt(held, at, { secrets, heads, isLast }) : 0
      if (found === undefined) break
      if (found === 0) {
        at += 1
        continue
      }
      shown.push(held.subarray(from, at), MASKED)
      at += found
      from = at
    }
    shown.push(held.subarray(from, at))
    held = held.subarray(at)
    return Buffer.concat(shown)
  }
  return {
    push: (chunk) => {
      held = Buffer.concat([held, chunk])
      return scan(false)
    },
    end: () => scan(true),
  }
}

interface Wanted {
  readonly secrets: readonly Buffer[]
  readonly heads: readonly Buffer[]
  readonly isLast: boolean
}

/** Bytes of the secret that begins at `at`; 0 for none, undefined where more has to come to tell. */
function secretAt(text: Buffer, at: number, { secrets, heads, isLast }: Wanted): number | undefined {
  const left = text.length - at
  const beginsLike = (whole: Buffer): boolean => {
    const length = Math.min(left, whole.length)
    return text.compare(whole, 0, length, at, at + length) === 0
  }
  let length = 0
  for (const secret of secrets) {
    if (!beginsLike(secret)) continue
    if (left < secret.length) {
      if (!isLast) return undefined
      continue
    }
    length = secret.length
    break
  }
  for (const head of heads) {
    if (!beginsLike(head)) continue
    if (left < head.length) {
      if (!isLast) return undefined
      continue
    }
    let end = at + head.length
    while (end < text.length && end - at < MAX_TOKEN_BYTES && isTokenByte(text[end] ?? 0)) end += 1
    if (end === text.length && end - at < MAX_TOKEN_BYTES && !isLast) return undefined
    if (end - at > head.length) length = Math.max(length, end - at)
  }
  return length
}
