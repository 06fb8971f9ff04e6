/** The `ilike` pattern for "contains this text", whatever signs the text holds. */
export const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`

/** Whether there is anything to look for, and whether an index of trigrams finds it: three letters or digits in a row. */
export const wordSize = (text: string): 'short' | 'long' | null =>
  text === '' ? null : /[\p{L}\p{N}]{3}/u.test(text) ? 'long' : 'short'
