/** Whether `YYYY-MM-DD` is a day that PostgreSQL has: not the 30th of February, not of the year 0. */
export function isDay(text: string): boolean {
  const time = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text) && !text.startsWith('0000')
}
