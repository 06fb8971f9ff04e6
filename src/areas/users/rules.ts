import { lengthFaults } from '../../core/values/lengths.ts'

import { pathFault } from '../../core/places/paths.ts'

/** Fields of a user, set by the user or an administrator. */
interface Said {
  readonly username?: string | undefined
  readonly name?: string | undefined
  readonly email?: string | undefined
  readonly password?: string | undefined
  readonly bio?: string | undefined
  readonly [other: string]: unknown
}

const isAddress = (text: string): boolean => text.length <= 254 && /^[^\s@<>,;"]+@[^\s@<>,;"]+$/.test(text)

/** Faults by field, in the published words; an empty object without any. */
export function faultsOf({ username, name, email, password, bio }: Said): Record<string, string[]> {
  const faults: [string, string | false | undefined][] = [
    ['email', email !== undefined && !isAddress(email) && 'is invalid'],
    ['username', username === undefined ? undefined : pathFault(username, true)],
    ['name', lengthFaults(name, 255)[0]],
    ['password', password !== undefined && password.length < 8 && 'is too short (minimum is 8 characters)'],
    ['password', lengthFaults(password, 128)[0]],
    ['bio', lengthFaults(bio, 255)[0]],
  ]
  return Object.fromEntries(
    faults.flatMap(([field, fault]) => (typeof fault === 'string' ? [[field, [fault]]] : [])),
  )
}
