import { pathFault } from '../core/places/paths.ts'
import { ROLES } from '../core/sight/roles.ts'
import { SCOPES, type Scope } from '../access/tokens.ts'
import { isLonger, tooLong } from '../core/values/lengths.ts'
import { keysOf } from '../http/params/schema.ts'
import { Misuse } from './command.ts'

// Readers of what is typed after an option. They throw Misuse, before anything is opened.

/** One of `names`, or a Misuse that lists them. */
export function oneOf<Name extends string>(names: readonly Name[], given: string, what: string): Name {
  const found = names.find((name) => name === given)
  if (found === undefined) throw new Misuse(`there is no ${what} "${given}"; there are ${names.join(', ')}`)
  return found
}

export const readScopes = (list: string): Scope[] => [
  ...new Set(list.split(',').map((word) => oneOf(SCOPES, word.trim(), 'scope'))),
]

/** A day from tomorrow on, in UTC: on the day itself what it ends is over. */
export function readDay(given: string): string {
  const day = readDate('--expires-at')(given)
  if (Date.parse(`${day}T00:00:00Z`) <= Date.now())
    throw new Misuse(`--expires-at takes a day to come, not ${given}`)
  return day
}

/** Any day. */
export const readDate =
  (option: string) =>
  (given: string): string => {
    const time = /^\d{4}-\d\d-\d\d$/.test(given) ? Date.parse(`${given}T00:00:00Z`) : Number.NaN
    if (Number.isNaN(time) || !new Date(time).toISOString().startsWith(given))
      throw new Misuse(`${option} takes a day such as 2030-01-31, not "${given}"`)
    return given
  }

const MAX_NAME_CHARACTERS = 255

/** Nouns of records. */
export function readTitle(given: string): string {
  const title = given.trim()
  if (title === '') throw new Misuse("--title can't be blank")
  if (isLonger(title, MAX_NAME_CHARACTERS)) throw new Misuse(`--title ${tooLong(MAX_NAME_CHARACTERS)}`)
  return title
}

export interface Role {
  readonly name: string
  readonly level: number
}

/** A role by its name or number. */
export function readRole(given: string): Role {
  const names = keysOf(ROLES)
  const word = given.toLowerCase().replaceAll(' ', '_')
  const name = names.find((each) => each === word || String(ROLES[each]) === word)
  if (name === undefined)
    throw new Misuse(
      `there is no role "${given}"; there are ${names.map((each) => `${each} (${ROLES[each]})`).join(', ')}`,
    )
  return { name, level: ROLES[name] }
}

export function readUsername(given: string): string {
  const fault = given === '' ? "can't be blank" : pathFault(given, true)
  if (fault !== undefined) throw new Misuse(`--username ${fault}`)
  return given
}

export function readEmail(given: string): string {
  if (!/^[^\s@]+@[^\s@]+$/.test(given) || given.length > 254)
    throw new Misuse(`--email takes a mail address, not "${given}"`)
  return given
}

/** A name for people. */
export function readName(given: string): string {
  const name = given.trim()
  if (name === '') throw new Misuse("--name can't be blank")
  if (isLonger(name, MAX_NAME_CHARACTERS)) throw new Misuse(`--name ${tooLong(MAX_NAME_CHARACTERS)}`)
  return name
}

export interface Address {
  /** Undefined at the top level. */
  readonly parent: string | undefined
  readonly path: string
}

/** Takes `a/b/c` apart into `a/b` and `c`. */
export function readAddress(given: string): Address {
  const parts = given.replaceAll(/^\/+|\/+$/g, '').split('/')
  const path = parts.pop() ?? ''
  const parent = parts.length === 0 ? undefined : parts.join('/')
  const fault = path === '' || parts.includes('') ? "can't be blank" : pathFault(path, parent === undefined)
  if (fault !== undefined) throw new Misuse(`--path ${fault}`)
  return { parent, path }
}
