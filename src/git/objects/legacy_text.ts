const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const LINE_FEED = 10

/** Decodes UTF-8; lines that are none are read as Latin-1. */
export function textOf(bytes: Buffer): string {
  return decoded(bytes) ?? linesOf(bytes)
}

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/** A file that was converted shows lines of both encodings in one diff. */
function linesOf(bytes: Buffer): string {
  const lines: string[] = []
  for (let from = 0; from < bytes.length;) {
    const end = bytes.indexOf(LINE_FEED, from)
    const to = end === -1 ? bytes.length : end + 1
    const line = bytes.subarray(from, to)
    lines.push(decoded(line) ?? line.toString('latin1'))
    from = to
  }
  return lines.join('')
}
