import type { Visibility } from '../../db/schema/columns.ts'

/** From what the fewest see to what everybody sees. */
export const VISIBILITIES = ['private', 'internal', 'public'] as const satisfies readonly Visibility[]

/** Whether more people see the one than the other. */
export const isWider = (one: Visibility, other: Visibility): boolean =>
  VISIBILITIES.indexOf(one) > VISIBILITIES.indexOf(other)

/** Of two the one that fewer see. */
export const narrower = (one: Visibility, other: Visibility): Visibility =>
  isWider(one, other) ? other : one
