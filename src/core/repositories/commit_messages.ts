/** The message that was given for a commit; of blanks alone it says nothing, and another stands in its place. */
export const messageOr = (given: string | undefined, otherwise: string): string =>
  given?.trim() ? given : otherwise
