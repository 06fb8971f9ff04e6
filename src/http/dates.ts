// Days and moments as parameters say them.

/** A time without a zone is in UTC, wherever this server stands. */
export const zoned = (text: string): string =>
  /:\d\d(\.\d+)?$/.test(text) && !/[+-]\d\d:?\d\d$/.test(text) ? `${text}Z` : text

/** Whether a text is a day or a moment, by the name of the format. */
export const formats: Readonly<Record<string, (text: string) => boolean>> = {
  date: (text) => /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text),
  'date-time': (text) =>
    /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?$/i.test(text) &&
    !Number.isNaN(Date.parse(text)) &&
    isDay(text.slice(0, 10)),
}

/** False for the 30th of February, which Date would move into March, and for the year 0, which PostgreSQL has not. */
const isDay = (text: string): boolean => {
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) && !text.startsWith('0000')
}
