/** The trailers of a message: of a repeated key the last value, and every value in order. Neither has a prototype. */
export interface Trailers {
  readonly trailers: Readonly<Record<string, string>>
  readonly extended: Readonly<Record<string, readonly string[]>>
}

const generated = ['Signed-off-by: ', '(cherry picked from commit ']
const cutLine = '# ------------------------ >8 ------------------------\n'
const comment = '#'

/**
 * Finds the trailers of a commit message as `git log --format=%(trailers:only,unfold)` does; in time linear in the
 * message's length. Keys keep their case; a value that runs over several lines is joined with single spaces.
 */
export function parseTrailers(message: string): Trailers {
  const trailers: Record<string, string> = Object.create(null)
  const extended: Record<string, string[]> = Object.create(null)
  for (const [key, value] of trailerPairs(message)) {
    trailers[key] = value
    const values = extended[key]
    if (values === undefined) extended[key] = [value]
    else values.push(value)
  }
  return { trailers, extended }
}

function trailerPairs(message: string): [string, string][] {
  const text = readable(message)
  const end = blockEnd(text)
  const start = blockStart(text, end)
  const folded: string[][] = []
  let last: string[] | undefined
  for (let at = start; at < end;) {
    const next = Math.min(nextLine(text, at), end)
    const line = text.slice(at, next)
    at = next
    if (last !== undefined && isSpace(line, 0)) last.push(line)
    else {
      last = separatorAt(line, 0) >= 1 ? [line] : undefined
      if (last !== undefined) folded.push(last)
    }
  }
  return folded.map((lines) => {
    const whole = lines.join('')
    const separator = separatorAt(whole, 0)
    return [trim(whole.slice(0, separator)), unfold(trim(whole.slice(separator + 1)))]
  })
}

/** The part that git parses: up to a NUL, and from the first line that is not blank. */
function readable(message: string): string {
  const nul = message.indexOf('\0')
  const text = nul === -1 ? message : message.slice(0, nul)
  let at = 0
  while (at < text.length && isBlank(text, at)) at = nextLine(text, at)
  return text.slice(at)
}

/** Where comments, a conflict list or a scissors line at the end of the message begin. */
function blockEnd(text: string): number {
  const cutAt = text.startsWith(cutLine) ? 0 : text.indexOf(`\n${cutLine}`) + 1
  const cutoff = cutAt === 0 && !text.startsWith(cutLine) ? text.length : cutAt
  let commentsAt = 0
  let inConflicts = false
  for (let at = 0; at < cutoff; at = nextLine(text, at)) {
    if (text[at] === comment || text[at] === '\n') commentsAt ||= at
    else if (text.startsWith('Conflicts:\n', at)) {
      inConflicts = true
      commentsAt ||= at
    } else if (!(inConflicts && text[at] === '\t') && commentsAt !== 0) {
      commentsAt = 0
      inConflicts = false
    }
  }
  return commentsAt === 0 ? cutoff : commentsAt
}

/** Where the last paragraph begins if it is one of trailers; otherwise `end`. */
function blockStart(text: string, end: number): number {
  const titleEnd = firstParagraphEnd(text, end)
  const seen = { recognized: false, trailers: 0, others: 0, continuations: 0 }
  let onlyBlank = true
  for (let at = lastLine(text, end); at >= titleEnd && at >= 0; at = lastLine(text, at)) {
    if (text[at] === comment) {
      seen.others += seen.continuations
      seen.continuations = 0
    } else if (isBlank(text, at)) {
      if (onlyBlank) continue
      seen.others += seen.continuations
      const mixed = seen.recognized && seen.trailers * 3 >= seen.others
      return mixed || (seen.trailers > 0 && seen.others === 0) ? nextLine(text, at) : end
    } else {
      onlyBlank = false
      countLine(text, at, seen)
    }
  }
  return end
}

interface Seen {
  recognized: boolean
  trailers: number
  others: number
  continuations: number
}

function countLine(text: string, at: number, seen: Seen): void {
  if (generated.some((prefix) => text.startsWith(prefix, at))) {
    seen.recognized = true
    seen.trailers += 1
    seen.continuations = 0
  } else if (!isSpace(text, at) && separatorAt(text, at) > at) {
    seen.trailers += 1
    seen.continuations = 0
  } else if (isSpace(text, at)) seen.continuations += 1
  else {
    seen.others += 1 + seen.continuations
    seen.continuations = 0
  }
}

function firstParagraphEnd(text: string, end: number): number {
  let at = 0
  while (at < end && (text[at] === comment || !isBlank(text, at))) at = nextLine(text, at)
  return at
}

/** The place of the colon after a key (letters, digits, dashes, then blanks) that starts at `from`, or -1. */
function separatorAt(text: string, from: number): number {
  let blankSeen = false
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 58) return at
    const isBlank = code === 32 || code === 9
    if (isBlank && at > from) blankSeen = true
    else if (blankSeen || !isKeyCode(code)) return -1
  }
  return -1
}

function isKeyCode(code: number): boolean {
  return (
    code === 45 || (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122)
  )
}

/** Git's isspace: blank, tab, line feed and carriage return, and nothing else. */
function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 32 || code === 9 || code === 10 || code === 13
}

function isBlank(text: string, from: number): boolean {
  let at = from
  while (at < text.length && text[at] !== '\n' && isSpace(text, at)) at += 1
  return at >= text.length || text[at] === '\n'
}

function nextLine(text: string, at: number): number {
  const feed = text.indexOf('\n', at)
  return feed === -1 ? text.length : feed + 1
}

/** The start of the last line before `end`, a line feed just before `end` belonging to it; -1 when there is none. */
function lastLine(text: string, end: number): number {
  if (end === 0) return -1
  return end === 1 ? 0 : text.lastIndexOf('\n', end - 2) + 1
}

function trim(text: string): string {
  let from = 0
  let to = text.length
  while (from < to && isSpace(text, from)) from += 1
  while (to > from && isSpace(text, to - 1)) to -= 1
  return text.slice(from, to)
}

function unfold(value: string): string {
  return value.includes('\n') ? trim(value.replaceAll(/\n[ \t\n\r]*/g, ' ')) : value
}
