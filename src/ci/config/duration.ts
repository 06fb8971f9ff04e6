const SECONDS: Readonly<Record<string, number>> = {
  s: 1,
  sec: 1,
  second: 1,
  m: 60,
  min: 60,
  minute: 60,
  h: 3_600,
  hr: 3_600,
  hour: 3_600,
  d: 86_400,
  day: 86_400,
  w: 604_800,
  wk: 604_800,
  week: 604_800,
  mo: 2_592_000,
  mth: 2_592_000,
  month: 2_592_000,
  y: 31_536_000,
  yr: 31_536_000,
  year: 31_536_000,
}
const PART = /\s*(?:and\s|,)?\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*/y
const MAX_DURATION_CHARACTERS = 100
/** A thousand years: a date later than the year 9999 has no form that clients read, and later ones no interval in the database. */
const MAX_SECONDS = 1_000 * 31_536_000

export const WEEK = 604_800

/** Seconds of `1 hour 30 mins`, `2h20min`, `1 week and 2 days` or a bare number of seconds; null for no duration. */
export function readDuration(text: string): number | null {
  const words = text.trim().toLowerCase()
  if (words === '' || words.length > MAX_DURATION_CHARACTERS) return null
  let seconds = 0
  PART.lastIndex = 0
  while (PART.lastIndex < words.length) {
    const [, amount, unit = ''] = PART.exec(words) ?? []
    const factor = unit === '' ? 1 : (SECONDS[unit] ?? SECONDS[unit.replace(/s$/, '')])
    if (amount === undefined || factor === undefined) return null
    seconds += Number(amount) * factor
  }
  return seconds > MAX_SECONDS ? null : Math.round(seconds)
}
