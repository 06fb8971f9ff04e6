import pg from 'pg'

const readMoment = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ)

/**
 * A moment as the database tells it, mostly `2026-01-31 10:00:00.123456+00`: that form is read several times as fast as
 * all forms are, and written as ISO text from what it was read from. Milliseconds are cut off, as everywhere.
 */
export const parseMoment = (text: string): unknown => (USUAL.test(text) ? new Moment(text) : readMoment(text))

// Years before 100 would be taken for those of the last century.
const USUAL = /^(?!00)\d{4}-.{14}(\.\d{1,6})?\+00$/
const MAX_CHARACTERS = '2026-01-31 10:00:00.123456+00'.length

class Moment extends Date {
  readonly #text: string

  constructor(text: string) {
    super(millisecondsOf(text))
    this.#text = text
  }

  override toISOString(): string {
    const text = this.#text
    // Trailing zeros of a fraction are not told, which is rare.
    return text.length === MAX_CHARACTERS
      ? `${text.slice(0, 10)}T${text.slice(11, 23)}Z`
      : super.toISOString()
  }
}

function millisecondsOf(text: string): number {
  const two = (at: number): number => (text.charCodeAt(at) - ZERO) * 10 + text.charCodeAt(at + 1) - ZERO
  const part = text.slice(20, -3).slice(0, 3).padEnd(3, '0')
  return Date.UTC(two(0) * 100 + two(2), two(5) - 1, two(8), two(11), two(14), two(17), Number(part))
}
const ZERO = '0'.charCodeAt(0)
