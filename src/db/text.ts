/** The `ilike` pattern for "contains this text", whatever signs the text holds. */
export const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`
