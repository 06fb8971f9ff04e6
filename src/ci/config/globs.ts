// Paths against patterns, as `rules:changes`, `rules:exists` and `include:local` have them: `*` and `?` stay inside a
// segment, `**/` spans any number of segments, `{a,b}` and `[a-z]` choose, and dot files match.

/** Whether a path matches. */
export type Glob = (path: string) => boolean

const MAX_ALTERNATIVES = 200

/** Work is bounded by the product of the lengths of pattern and path. A pattern with more than 200 alternatives matches nothing. */
export function readGlob(pattern: string): Glob {
  const alternatives = expandBraces(pattern)
  if (alternatives.every((each) => !/[*?[\\]/.test(each))) {
    const exact = new Set(alternatives)
    return (path) => exact.has(path)
  }
  const matchers = alternatives.map((each) => each.split('/'))
  return (path) => {
    const segments = path.split('/')
    return matchers.some((parts) => matchSegments(parts, segments))
  }
}

export const hasWildcard = (pattern: string): boolean => /[*?[{]/.test(pattern)

/** The part of a pattern before its first wildcard: every match begins with it. */
export const fixedPrefix = (pattern: string): string => /^[^*?[{\\]*/.exec(pattern)?.[0] ?? ''

function expandBraces(pattern: string): string[] {
  let open = [pattern]
  for (;;) {
    const next = open.flatMap(expandFirst)
    if (next.length > MAX_ALTERNATIVES) return []
    if (next.length === open.length && next.every((each, at) => each === open[at])) return next
    open = next
  }
}
function expandFirst(pattern: string): string[] {
  const match = /\{([^{}]*)\}/.exec(pattern)
  if (match === null) return [pattern]
  const [whole, inner = ''] = match
  const [before, after] = [pattern.slice(0, match.index), pattern.slice(match.index + whole.length)]
  return inner.split(',').map((choice) => before + choice + after)
}

/** `**` as a whole segment takes any number of segments, also none, but at the end at least one. */
function matchSegments(parts: readonly string[], segments: readonly string[]): boolean {
  // reach[i]: the parts so far match the first i segments.
  let reach = segments.map(() => false)
  reach.unshift(true)
  for (const [at, part] of parts.entries()) {
    const next = reach.map(() => false)
    if (part === '**') {
      let open = false
      for (let i = 0; i <= segments.length; i += 1) {
        next[i] = open || (reach[i] === true && at < parts.length - 1)
        if (reach[i] === true) open = true
      }
    } else {
      for (let i = 0; i < segments.length; i += 1)
        if (reach[i] === true && matchSegment(part, segments[i] ?? '')) next[i + 1] = true
    }
    reach = next
  }
  return reach[segments.length] === true
}

/** One segment: greedy, and on failure back to the last star only. */
function matchSegment(pattern: string, text: string): boolean {
  let [p, t, star, mark] = [0, 0, -1, 0]
  while (t < text.length) {
    const step = pattern[p] === '*' ? 0 : matchOne(pattern, p, text[t] ?? '')
    if (pattern[p] === '*') {
      star = p
      p += 1
      mark = t
    } else if (step > 0) {
      p += step
      t += 1
    } else if (star >= 0) {
      mark += 1
      t = mark
      p = star + 1
    } else return false
  }
  while (pattern[p] === '*') p += 1
  return p === pattern.length
}

/** How much of the pattern at `at` matches one character; 0 for none. */
function matchOne(pattern: string, at: number, character: string): number {
  const sign = pattern[at]
  if (sign === undefined) return 0
  if (sign === '?') return 1
  if (sign === '\\') return pattern[at + 1] === character ? 2 : 0
  if (sign !== '[') return sign === character ? 1 : 0
  const end = pattern.indexOf(']', at + 2)
  if (end < 0) return sign === character ? 1 : 0
  const negated = /[!^]/.test(pattern[at + 1] ?? '')
  const set = pattern.slice(at + (negated ? 2 : 1), end)
  return inSet(set, character) === negated ? 0 : end - at + 1
}
function inSet(set: string, character: string): boolean {
  for (let i = 0; i < set.length; i += 1) {
    const to = set[i + 1] === '-' ? set[i + 2] : undefined
    if (to !== undefined && (set[i] ?? '') <= character && character <= to) return true
    if (to === undefined && set[i] === character) return true
    if (to !== undefined) i += 2
  }
  return false
}
