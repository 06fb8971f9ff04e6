// Working time, as people write it: `1mo 2w 3d 4h 30m`. A day has eight hours, a week five days, a month four weeks.

const HOUR = 3600
const UNITS = [
  ['mo', 160 * HOUR],
  ['w', 40 * HOUR],
  ['d', 8 * HOUR],
  ['h', HOUR],
  ['m', 60],
  ['s', 1],
] as const

const WORDS: ReadonlyMap<string, number> = new Map(
  UNITS.flatMap(([unit, seconds]) => namesOf(unit).map((name) => [name, seconds] as const)),
)

function namesOf(unit: (typeof UNITS)[number][0]): string[] {
  const long = { mo: 'month', w: 'week', d: 'day', h: 'hour', m: 'minute', s: 'second' }[unit]
  const short = { mo: 'mos', w: 'wk', d: 'dy', h: 'hr', m: 'min', s: 'sec' }[unit]
  return [unit, short, `${short}s`, long, `${long}s`]
}

const MAX_CHARACTERS = 100
/** More than this no column holds. */
const MAX_SECONDS = 2 ** 31 - 1

const PART = /(\d+(?:\.\d+)?)\s*([a-z]*)/g

/** Seconds; a number alone counts hours. Undefined for what is no duration. */
export function parseDuration(text: string): number | undefined {
  if (text.length > MAX_CHARACTERS) return undefined
  const signed = /^([+-]?)(.+)$/.exec(text.trim().toLowerCase())
  if (signed === null) return undefined
  const [, sign, rest = ''] = signed
  const read = [...rest.matchAll(PART)].map(
    ([, number, word = '']) => Number(number) * (word === '' ? HOUR : (WORDS.get(word) ?? NaN)),
  )
  const total = Math.round(read.reduce((sum, seconds) => sum + seconds, 0))
  const understood = read.length > 0 && /^[\s,]*$/.test(rest.replaceAll(PART, ''))
  if (!understood || !Number.isFinite(total) || total > MAX_SECONDS) return undefined
  return sign === '-' ? -total : total
}

/** `3h 30m`; null for no time at all. */
export function showDuration(seconds: number): string | null {
  if (seconds === 0) return null
  let rest = Math.abs(seconds)
  const parts: string[] = []
  for (const [unit, size] of UNITS) {
    const count = Math.floor(rest / size)
    rest -= count * size
    if (count > 0) parts.push(`${count}${unit}`)
  }
  return `${seconds < 0 ? '-' : ''}${parts.join(' ')}`
}
