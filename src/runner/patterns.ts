// Paths against patterns: `*` and `?` stay inside a segment, `**` spans any number of them, `[a-z]` chooses.

/** Whether a segment matches; its work is bounded by the product of both lengths. */
function matchesSegment(pattern: string, text: string): boolean {
  let [at, from, star, resume] = [0, 0, -1, 0]
  while (from < text.length) {
    const step = at < pattern.length ? stepAt(pattern, at, text[from] ?? '') : 0
    if (pattern[at] === '*') {
      star = at
      resume = from
      at += 1
    } else if (step > 0) {
      at += step
      from += 1
    } else if (star >= 0) {
      at = star + 1
      resume += 1
      from = resume
    } else return false
  }
  while (pattern[at] === '*') at += 1
  return at === pattern.length
}

/** How many characters of the pattern match the character; 0 for none. */
function stepAt(pattern: string, at: number, character: string): number {
  const sign = pattern[at]
  if (sign === '?') return 1
  if (sign === '\\') return pattern[at + 1] === character ? 2 : 0
  if (sign !== '[') return sign === character ? 1 : 0
  const end = pattern.indexOf(']', at + 2)
  if (end < 0) return character === '[' ? 1 : 0
  const inner = pattern.slice(at + 1, end)
  const isNegated = /^[!^]/.test(inner)
  const body = isNegated ? inner.slice(1) : inner
  let isIn = false
  for (let i = 0; i < body.length; i += 1) {
    const low = body[i] ?? ''
    const isRange = body[i + 1] === '-' && i + 2 < body.length
    const high = isRange ? (body[i + 2] ?? '') : low
    if (character >= low && character <= high) isIn = true
    if (isRange) i += 2
  }
  return isIn === isNegated ? 0 : end + 1 - at
}

/** Whether the segments of a path match those of a pattern; `prefix` where the path may lead to a match. */
function matchesFrom(parts: readonly string[], segments: readonly string[]): boolean {
  let reach = [true, ...segments.map(() => false)]
  for (const part of parts) {
    const next = reach.map(() => false)
    let isOpen = false
    for (let i = 0; i <= segments.length; i += 1) {
      if (part === '**') {
        isOpen ||= reach[i] === true
        next[i] = isOpen
      } else if (i > 0 && reach[i - 1] === true && matchesSegment(part, segments[i - 1] ?? '')) next[i] = true
    }
    reach = next
  }
  return reach.at(-1) === true
}

const segmentsOf = (path: string): string[] =>
  path.split('/').filter((segment) => segment !== '' && segment !== '.')

/** Whether a path below a directory, or a directory above it, matches the pattern. */
export function readPattern(pattern: string): (path: string) => boolean {
  const parts = segmentsOf(pattern)
  if (parts.length === 0) return () => true
  return (path) => {
    const segments = segmentsOf(path)
    for (let length = 1; length <= segments.length; length += 1)
      if (matchesFrom(parts, segments.slice(0, length))) return true
    return false
  }
}
