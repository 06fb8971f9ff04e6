// Texts that machines and strangers sent, as a terminal may show them.

/** Controls of a terminal, and marks that turn the direction of text. Line ends and tabs stay. */
const UNSAFE = /(?!\r\n)[\p{Cc}\u202A-\u202E\u2066-\u2069]/gu

/** A text whose control characters are written as escapes, so that it cannot move the cursor or hide a part of itself. */
export const printable = (text: string): string =>
  text.replaceAll(UNSAFE, (found) =>
    found === '\n' || found === '\t'
      ? found
      : `\\u${(found.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`,
  )

/** A text as one line of a list: it cannot look like several. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim()

/** The lines of a list, or a sentence for an empty one. */
export const linesOrNone = (lines: readonly string[]): string =>
  lines.length === 0 ? 'There are none.' : lines.join('\n')
