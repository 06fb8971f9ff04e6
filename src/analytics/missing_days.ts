import type { EngineQuery } from './engine_query.ts'

/** Days that one answer is filled up to: a range of centuries is not spelled out. */
const MAX_DAYS = 3_660
const DAY_MS = 86_400_000

type Row = Readonly<Record<string, unknown>>

/**
 * The rows with one appended for each day that a filter `inDateRange` spans and that has none: its measures are "0".
 * The rows as they are where the query asks for no measures, or the first row has no `<member>.day`.
 */
export function withMissingDays(rows: readonly Row[], query: EngineQuery): readonly Row[] {
  const { measures, filters } = query
  const [first] = rows
  const filter = Array.isArray(filters) ? (filters as Row[]).find(isRange) : undefined
  if (first === undefined || filter === undefined || !Array.isArray(measures) || measures.length === 0)
    return rows
  const member = String(filter['member'] ?? filter['dimension'])
  const day = `${member}.day`
  if (first[day] === undefined) return rows
  const present = new Set(rows.map((row) => String(row[day]).slice(0, 10)))
  const zeros = Object.fromEntries((measures as string[]).map((measure) => [measure, '0']))
  const missing = daysOf(filter['values']).filter((date) => !present.has(date))
  return [
    ...rows,
    ...missing.map((date) => {
      const midnight = `${date}T00:00:00.000`
      return { [day]: midnight, [member]: midnight, ...zeros }
    }),
  ]
}

const isRange = (filter: unknown): boolean =>
  typeof filter === 'object' && filter !== null && (filter as Row)['operator'] === 'inDateRange'

/** The dates from the first value to the second; none for what is no such range, or for one that is too long. */
function daysOf(values: unknown): string[] {
  const [from, to] = (Array.isArray(values) ? values : []).map((value) =>
    /^\d{4}-\d\d-\d\d/.test(String(value))
      ? Date.parse(`${String(value).slice(0, 10)}T00:00:00Z`)
      : Number.NaN,
  )
  if (from === undefined || to === undefined) return []
  const count = (to - from) / DAY_MS + 1
  if (!(count > 0 && count <= MAX_DAYS)) return []
  return Array.from({ length: count }, (_, day) => new Date(from + day * DAY_MS).toISOString().slice(0, 10))
}
