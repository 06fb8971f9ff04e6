import { LRUCache } from 'lru-cache'
import { RE2JS, RE2JSException } from 're2js'

/** A regular expression that is searched in time linear to the text. */
export interface Pattern {
  readonly found: (text: string) => boolean
  /** The last match, or the last of its groups that matched; undefined without a match. */
  readonly lastIn: (text: string) => string | undefined
}

const MAX_PATTERN_CHARACTERS = 2_000
const FLAGS: Readonly<Record<string, number>> = {
  i: RE2JS.CASE_INSENSITIVE,
  s: RE2JS.DOTALL,
  m: RE2JS.MULTILINE,
}

const compiled = new LRUCache<string, { readonly pattern: Pattern | null }>({ max: 500 })

/** Reads `/…/flags` with RE2's syntax and the flags i, s, m and U; null for what is none, or longer than 2,000 characters. */
export function readPattern(text: string): Pattern | null {
  const known = compiled.get(text)
  if (known !== undefined) return known.pattern
  const pattern = compile(text)
  compiled.set(text, { pattern })
  return pattern
}

function compile(text: string): Pattern | null {
  const [, source, flags = ''] = /^\/(.+)\/([ismU]*)$/s.exec(text) ?? []
  if (source === undefined || source.length > MAX_PATTERN_CHARACTERS) return null
  const ungreedy = flags.includes('U') ? '(?U)' : ''
  const bits = flags.split('').reduce((sum, flag) => sum | (FLAGS[flag] ?? 0), 0)
  try {
    const regex = RE2JS.compile(ungreedy + source.replaceAll('\\/', '/'), bits)
    return {
      found: (subject) => regex.matcher(subject).find(),
      lastIn: (subject) => {
        const matcher = regex.matcher(subject)
        let last: string | undefined
        while (matcher.find()) last = matcher.group(matcher.groupCount()) ?? matcher.group() ?? undefined
        return last
      },
    }
  } catch (error) {
    if (error instanceof RE2JSException) return null
    throw error
  }
}
