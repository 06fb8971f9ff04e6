const escaped = (text: string): string => text.replaceAll(/[\\%_]/g, String.raw`\$&`)

/** The `ilike` pattern for "contains this text", whatever signs the text holds. */
export const containing = (text: string): string => `%${escaped(text)}%`

export type Meant = 'whole' | 'part' | null
/** Words of fewer than three characters match exactly: no trigram index finds them. */
export const meant = (text: string): Meant =>
  text === '' ? null : /^.{1,2}$/su.test(text) ? 'whole' : 'part'
/** The `ilike` pattern for what is meant. */
export const meaning = (text: string): string => (meant(text) === 'whole' ? escaped(text) : containing(text))
