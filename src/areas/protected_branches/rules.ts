import { isLonger, tooLong } from '../../core/values/lengths.ts'

import type { LevelChange } from './store.ts'

const MAINTAINERS = 40
const MAX_NAME_CHARACTERS = 255

/** Why a name cannot be protected, in the published words; undefined when it can. */
export function nameFault(name: string): string | undefined {
  if (name.trim() === '') return "Name can't be blank"
  return isLonger(name, MAX_NAME_CHARACTERS) ? `Name ${tooLong(MAX_NAME_CHARACTERS)}` : undefined
}

interface Given {
  readonly id?: number | undefined
  readonly access_level?: number | undefined
  readonly user_id?: number | undefined
  readonly _destroy?: boolean | undefined
}

/** A user stands in place of a level. */
const levelOf = ({ access_level, user_id }: Given): number | undefined =>
  user_id === undefined ? access_level : undefined
const usersOf = (given: readonly Given[]): number[] =>
  given.map(({ user_id }) => user_id).filter((id) => id !== undefined)

/** Missing parts of a list: each entry of a new protection names a level or a user. */
export const missingIn = (name: string, given: readonly Given[] = []): string[] =>
  given.flatMap(({ access_level, user_id }, i) =>
    access_level === undefined && user_id === undefined ? [`${name}[${i}][access_level] is missing`] : [],
  )

/** The levels of a new protection: all that were given, Maintainers where none was. */
export const newLevels = (
  action: LevelChange['action'],
  one: number | undefined,
  more: readonly Given[] = [],
): LevelChange => {
  const levels = [one, ...more.map((given) => levelOf(given))].filter((level) => level !== undefined)
  const users = usersOf(more)
  return { action, add: levels.length + users.length > 0 ? levels : [MAINTAINERS], users, remove: [] }
}

/** The result of a list of changes: an entry with an id replaces or removes that level, one without adds. */
export const changedLevels = (action: LevelChange['action'], given: readonly Given[] = []): LevelChange => ({
  action,
  remove: given.map(({ id }) => id).filter((id) => id !== undefined),
  add: given
    .filter(({ _destroy }) => _destroy !== true)
    .map((one) => levelOf(one))
    .filter((level) => level !== undefined),
  users: usersOf(given.filter(({ _destroy }) => _destroy !== true)),
})
