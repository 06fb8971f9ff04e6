/** Whether a language, by its name or the ending of its files, can be coloured. */
export function knows(language: string): boolean
/** Code as HTML, escaped, with classes for its parts. */
export function colour(text: string, language: string): string
