// Days and moments as parameters say them.

/** A time without a zone is in UTC, wherever this server stands. */
export const zoned = (text: string): string =>
  /:\d\d(\.\d+)?$/.test(text) && !/[+-]\d\d:?\d\d$/.test(text) ? `${text}Z` : text

/** The day of a day or a moment, in UTC: typed clients send moments where days are meant. */
export const dayOf = (text: string): string =>
  text.length === 10 ? text : new Date(zoned(text)).toISOString().slice(0, 10)

/** False for the 30th of February, which Date would move into March, and for the year 0, which PostgreSQL has not. */
const isDay = (text: string): boolean => {
  const time = Date.parse(`${text}T00:00:00Z`)
  return (
    /^\d{4}-/.test(text) &&
    !Number.isNaN(time) &&
    new Date(time).toISOString().startsWith(text) &&
    !text.startsWith('0000')
  )
}

const isMoment = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i.test(text) &&
  !Number.isNaN(Date.parse(text)) &&
  isDay(text.slice(0, 10))

/** Whether a text will do for the format: a moment will for a day, and a day for a moment. */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  date: (text) => isMoment(text) && isDay(dayOf(text)),
  'date-time': isMoment,
}
