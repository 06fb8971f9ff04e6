/** The nearest path that a namespace could have, its letter case kept. */
export function cleanPath(path: string): string {
  const clean = path
    .replace(/@.*$/s, '')
    .replaceAll(/[^\w.-]/g, '')
    .replace(/(\.atom|\.git|\.)+$/, '')
    .replace(/^-+/, '')
  return clean === '' ? 'blank' : clean
}

const TRIES = 4

/** Suggestions for a taken path, in the order of preference. */
export const suggestions = (path: string): string[] =>
  Array.from({ length: TRIES }, (_, i) => `${cleanPath(path)}${i + 1}`)

/** After those, a number that cannot have been taken. */
export const lastResort = (path: string, now: Date): string => `${cleanPath(path)}${now.getTime()}`
