/** Whether a text has more than `most` characters. Texts of more than `2 * most` code units are not counted. */
export const isLonger = (text: string, most: number): boolean =>
  text.length > 2 * most || (text.length > most && Array.from(text).length > most)

/** The published refusal of a longer text. */
export const tooLong = (most: number): string => `is too long (maximum is ${most} characters)`

/** The refusal of a text longer than `most` characters, as a list; empty for others. */
export const lengthFaults = (text: string | null | undefined, most: number): string[] =>
  isLonger(text ?? '', most) ? [tooLong(most)] : []
