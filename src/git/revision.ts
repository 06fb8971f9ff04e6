/** One step from a commit to an ancestor. */
export type Step =
  /** The parent of this number, counted from 1; 0 is the commit itself. */
  | { readonly parent: number }
  /** As many first parents back. */
  | { readonly back: number }

/** A name and the steps that lead on from the commit it stands for. */
export interface Revision {
  readonly name: string
  readonly steps: readonly Step[]
}

const SHAPE = /^([^~^]+)((?:[~^]\d{0,6})*)$/
const STEP = /([~^])(\d*)/g
const MAX_STEPS = 100

/**
 * Reads `main~2`, `v1^2`, `@^`: a name of git's grammar with steps to an ancestor, and `@` for HEAD. Undefined for all
 * other expressions (reflogs, dates, searches, paths) and for more than a hundred steps.
 */
export function readRevision(text: string): Revision | undefined {
  const [, name = '', rest = ''] = SHAPE.exec(text) ?? []
  if (name === '') return undefined
  const steps = [...rest.matchAll(STEP)].map(([, sign, digits = '']): Step => {
    const count = digits === '' ? 1 : Number(digits)
    return sign === '~' ? { back: count } : { parent: count }
  })
  return steps.length > MAX_STEPS ? undefined : { name: name === '@' ? 'HEAD' : name, steps }
}
