import { Type as t, type Static } from 'typebox'

export const References = t.Object({ short: t.String(), relative: t.String(), full: t.String() })

/**
 * How one names a record of a project: inside it, from where the answer stands, from anywhere. It stands in the project
 * itself, in the group of the path `group`, or, where that is null, in no place.
 */
export function referencesOf(
  sign: '#' | '!',
  iid: number,
  path: string,
  group?: string | null,
): Static<typeof References> {
  const short = `${sign}${iid}`
  const full = `${path}${short}`
  const cut = path.lastIndexOf('/')
  const near = path.slice(0, cut) === group ? `${path.slice(cut + 1)}${short}` : full
  return { short, relative: group === undefined ? short : near, full }
}
