/** Text as PostgreSQL keeps it: NUL, and halves of surrogate pairs, become replacement characters. */
export const storable = (text: string): string => text.toWellFormed().replaceAll('\0', '\uFFFD')

/** The same of all keys and values of a document, as JSON. */
export const jsonText = (document: Readonly<Record<string, unknown>>): string =>
  // Whole pairs stand in JSON as they are, and only halves are escaped.
  JSON.stringify(document).replaceAll(/\\(?:u(0000|d[89a-f][\da-f]{2})|.)/gs, (escape, code?: string) =>
    code === undefined ? escape : '\uFFFD',
  )
