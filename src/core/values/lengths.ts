/** Whether a text has more than `most` characters. Of one that must have, they are not counted. */
export const isLonger = (text: string, most: number): boolean =>
  text.length > 2 * most || (text.length > most && Array.from(text).length > most)

/** The published refusal of a longer text. */
export const tooLong = (most: number): string => `is too long (maximum is ${most} characters)`

/** That, or nothing, of a text that may have `most` characters. */
export const lengthFaults = (text: string | null | undefined, most: number): string[] =>
  isLonger(text ?? '', most) ? [tooLong(most)] : []
