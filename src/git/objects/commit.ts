/** A moment as a commit records it: Unix seconds and the writer's offset from UTC, always `+hhmm` or `-hhmm`. */
export interface GitDate {
  readonly seconds: number
  readonly offset: string
}

/** An author or committer, as recorded; either text may be empty. */
export interface Signature {
  readonly name: string
  readonly email: string
  readonly date: GitDate
}

/** A commit, decoded; `message` keeps its line ends and a final newline, and has at most MAX_MESSAGE_BYTES. */
export interface Commit {
  readonly id: string
  readonly tree: string
  readonly parents: readonly string[]
  readonly author: Signature
  readonly committer: Signature
  readonly message: string
}

/** Bytes of the message of a commit or tag: longer ones do not come in, and are cut where they are read. */
export const MAX_MESSAGE_BYTES = 1024 * 1024

const noDate: GitDate = { seconds: 0, offset: '+0000' }

/**
 * Parses the content of a commit object. It never throws: headers that are missing or broken give empty texts and the
 * start of Unix time, and bytes that are invalid in the commit's encoding give U+FFFD.
 */
export function parseCommit(id: string, bytes: Buffer): Commit {
  const blank = bytes.indexOf('\n\n')
  const headerEnd = blank === -1 ? bytes.length : blank
  const headers = bytes.toString('latin1', 0, headerEnd).split('\n')
  const parents: string[] = []
  const found = new Map<string, string>()
  for (const line of headers) {
    // Continuation lines of gpgsig and mergetag start with a space, so their "keyword" is empty.
    const space = line.indexOf(' ')
    const keyword = line.slice(0, Math.max(space, 0))
    if (keyword === 'parent') parents.push(line.slice(space + 1))
    else if (keyword !== '' && !found.has(keyword)) found.set(keyword, line.slice(space + 1))
  }
  const decode = decoderFor(found.get('encoding'))
  const signature = (keyword: string): Signature =>
    parseSignature(decode(Buffer.from(found.get(keyword) ?? '', 'latin1')))
  return {
    id,
    tree: found.get('tree') ?? '',
    parents,
    author: signature('author'),
    committer: signature('committer'),
    message: blank === -1 ? '' : decode(messageIn(bytes, blank + 2)),
  }
}

/** The message, cut before the character that would pass the limit. */
function messageIn(bytes: Buffer, start: number): Buffer {
  let end = Math.min(bytes.length, start + MAX_MESSAGE_BYTES)
  // Bytes that go on with a character of UTF-8 begin with the bits 10.
  if (end < bytes.length) while (end > start && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.subarray(start, end)
}

/** The author of a commit object as git searches it: the whole of `Name <email>` as written, decoded; empty for none. */
export function readAuthor(bytes: Buffer): string {
  const blank = bytes.indexOf('\n\n')
  const head = bytes.toString('latin1', 0, blank === -1 ? bytes.length : blank + 1)
  const line = /^author (.*)$/m.exec(head)?.[1] ?? ''
  const raw = Buffer.from(line.slice(0, line.lastIndexOf('>') + 1), 'latin1')
  return decoderFor(/^encoding (.*)$/m.exec(head)?.[1])(raw)
}

/** About how many bytes of memory a parsed commit takes. */
export function commitBytes(commit: Commit): number {
  const texts = [
    commit.message,
    commit.author.name,
    commit.author.email,
    commit.committer.name,
    commit.committer.email,
  ]
  return 600 + 64 * commit.parents.length + texts.reduce((sum, text) => sum + 2 * text.length, 0)
}

/** Reads `Name <email> seconds offset` as git does: the email ends at the first `>`, the date starts after the last. */
export function parseSignature(line: string): Signature {
  const open = line.indexOf('<')
  const close = open === -1 ? -1 : line.indexOf('>', open)
  if (close === -1) return { name: '', email: '', date: noDate }
  return {
    name: line.slice(0, open).trim(),
    email: line.slice(open + 1, close),
    date: parseDate(line.slice(line.lastIndexOf('>') + 1).trim()),
  }
}

function parseDate(text: string): GitDate {
  const [, digits = '', offset = ''] = /^(\d+)\s*([+-]\d+)?/.exec(text) ?? []
  const seconds = Number(digits)
  // Without an offset git takes the date for missing; 2^53 and later is no date that anybody can show.
  if (offset === '' || !Number.isSafeInteger(seconds)) return noDate
  return { seconds, offset: /^[+-]\d\d[0-5]\d$/.test(offset) ? offset : '+0000' }
}

type Decode = (bytes: Buffer) => string

// windows-1252 where it is not latin1. Node 20 decodes it as latin1 throughout.
const windows1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

const utf8: Decode = (bytes) => bytes.toString('utf8')

function decoderFor(encoding: string | undefined): Decode {
  if (encoding === undefined) return utf8
  const label = encoding
    .trim()
    .toLowerCase()
    .replace(/^iso8859/, 'iso-8859')
    .replace(/^cp125/, 'windows-125')
  // The web's "iso-8859-1" is windows-1252, which differs from what git's iconv reads.
  if (label === 'iso-8859-1' || label === 'latin1' || label === 'latin-1')
    return (bytes) => bytes.toString('latin1')
  if (label === 'windows-1252') {
    return (bytes) =>
      bytes
        .toString('latin1')
        .replaceAll(/[\u0080-\u009f]/g, (c) => windows1252.charAt(c.charCodeAt(0) - 0x80))
  }
  try {
    const decoder = new TextDecoder(label, { ignoreBOM: true })
    return (bytes) => decoder.decode(bytes)
  } catch {
    return utf8
  }
}
