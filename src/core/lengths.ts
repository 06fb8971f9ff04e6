/** Whether a text has more than `most` characters. Of one that must have, they are not counted. */
export const isLonger = (text: string, most: number): boolean =>
  text.length > 2 * most || (text.length > most && Array.from(text).length > most)
