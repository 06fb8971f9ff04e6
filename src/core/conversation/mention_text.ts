// Mentions and references in a text, outside of code. Each character is visited a constant number of times.

/** No more are heard in one text. */
const MAX_MENTIONS = 100
const FENCE = /^ {0,3}(`{3,}|~{3,})/

/** The text without its code. */
export function withoutCode(text: string): string {
  const kept: string[] = []
  let fence: string | undefined
  for (const line of text.split('\n')) {
    const mark = FENCE.exec(line)?.[1]
    if (fence === undefined && mark === undefined) kept.push(withoutSpans(line))
    else if (fence === undefined) fence = mark
    else if (mark?.startsWith(fence) === true) fence = undefined
  }
  return kept.join('\n')
}

/** A line without what stands between two runs of backticks of one length. */
function withoutSpans(line: string): string {
  if (!line.includes('`')) return line
  const parts = line.split(/(`+)/)
  const places = new Map<number, number[]>()
  for (let at = parts.length - 2; at > 0; at -= 2) {
    const length = parts[at]?.length ?? 0
    const same = places.get(length)
    if (same === undefined) places.set(length, [at])
    else same.push(at)
  }
  const kept: string[] = []
  for (let at = 0; at < parts.length; at += 1) {
    const part = parts[at] ?? ''
    if (at % 2 === 0) kept.push(part)
    else {
      const same = places.get(part.length) ?? []
      while ((same.at(-1) ?? Infinity) <= at) same.pop()
      const end = same.at(-1)
      if (end !== undefined) at = end
      kept.push(' ')
    }
  }
  return kept.join('')
}

const MENTION = /(?<![\w/.@-])@([a-z0-9_][\w.-]{0,254}(?:\/[\w.-]{1,255}){0,20})/gi

/** The users and groups that a text without code calls, in lower case: `@ada`, `@harbour/crew`. `@all` calls nobody. */
export function mentionedIn(text: string): string[] {
  const names = new Set<string>()
  for (const [, name = ''] of text.matchAll(MENTION)) {
    names.add(withoutEnd(name).toLowerCase())
    if (names.size === MAX_MENTIONS) break
  }
  names.delete('all')
  return [...names]
}

/** The name without the dots and strokes that it ends in: they belong to the sentence. */
function withoutEnd(name: string): string {
  let end = name.length
  while (name[end - 1] === '.' || name[end - 1] === '-') end -= 1
  return name.slice(0, end)
}

export interface Reference {
  readonly kind: 'issue' | 'merge_request'
  /** Of the project; undefined for the one the text is in. */
  readonly path: string | undefined
  readonly iid: number
}

const REFERENCE = /([#!])(\d{1,9})(?!\w)/g
const LONGEST_PATH = 255

/** The issues (`#1`, `group/project#1`) and merge requests (`!1`) that a text without code speaks of. */
export function referencesIn(text: string): Reference[] {
  const found = new Map<string, Reference>()
  let looked = 0
  for (const match of text.matchAll(REFERENCE)) {
    const [, sign, digits = ''] = match
    const path = pathBefore(text, match.index)
    const iid = Number(digits)
    if (path !== null && iid > 0 && iid < 2 ** 31)
      found.set(`${path ?? ''}${sign}${iid}`, {
        kind: sign === '#' ? 'issue' : 'merge_request',
        path,
        iid,
      })
    looked += 1
    if (found.size === MAX_MENTIONS || looked === 10 * MAX_MENTIONS) break
  }
  return [...found.values()]
}

/** The path that stands right before, undefined for none, null for what is none. */
function pathBefore(text: string, end: number): string | null | undefined {
  let from = end
  while (from > 0 && end - from <= LONGEST_PATH && /[\w./-]/.test(text[from - 1] ?? '')) from -= 1
  if (from === end) return /[&#!@~$%]/.test(text[from - 1] ?? '') ? null : undefined
  const path = text.slice(from, end)
  return path.length <= LONGEST_PATH && /^\w[\w.-]*\/\w[\w./-]*$/.test(path) ? path : null
}
