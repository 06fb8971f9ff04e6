import type { LevelChange } from './store.ts'

const MAINTAINERS = 40

/** Why a name cannot be protected, in the published words; undefined when it can. */
export function nameFault(name: string): string | undefined {
  if (name.trim() === '') return "Name can't be blank"
  return name.length > 255 ? 'Name is too long (maximum is 255 characters)' : undefined
}

interface Given {
  readonly id?: number | undefined
  readonly access_level?: number | undefined
  readonly _destroy?: boolean | undefined
}

/** The levels of a new protection: all that were given, Maintainers where none was. */
export const newLevels = (
  action: LevelChange['action'],
  one: number | undefined,
  more: readonly Given[] = [],
): LevelChange => {
  const levels = [one, ...more.map((given) => given.access_level)].filter((level) => level !== undefined)
  return { action, add: levels.length > 0 ? levels : [MAINTAINERS], remove: [] }
}

/** What a list of changes comes to: an entry with an id replaces or removes that level, one without adds. */
export const changedLevels = (action: LevelChange['action'], given: readonly Given[] = []): LevelChange => ({
  action,
  remove: given.map(({ id }) => id).filter((id) => id !== undefined),
  add: given
    .filter(({ _destroy }) => _destroy !== true)
    .map(({ access_level }) => access_level)
    .filter((level) => level !== undefined),
})
