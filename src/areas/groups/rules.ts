import { settingsOf } from '../../core/places/group_settings.ts'
import type { Group } from '../../core/places/groups.ts'
import { lengthFaults } from '../../core/values/lengths.ts'
import { pathFault } from '../../core/places/paths.ts'
import { ROLES, type Viewer } from '../../core/sight/roles.ts'
import { isWider } from '../../core/values/visibilities.ts'
import type { Visibility } from '../../db/schema/columns.ts'

export type Faults = Readonly<Record<string, readonly string[]>>

const MAX_TITLE_CHARACTERS = 255
const LONGEST_DESCRIPTION = 500
const NAME = /^[\p{L}\p{N}\u{A9}-\u{1F9FF}_][\p{L}\p{N}\p{M}\p{Pd}\u{A9}-\u{1F9FF}_()+.\s]*$/u
const NAME_FORM =
  "can contain only letters, digits, emoji, '_', '.', dash, space, parenthesis. " +
  "It must start with letter, digit, emoji or '_'."

function nameFaults(name: string): string[] {
  if (name.trim() === '') return ["can't be blank"]
  return [...lengthFaults(name, MAX_TITLE_CHARACTERS), ...(NAME.test(name) ? [] : [NAME_FORM])]
}

function pathFaults(path: string, topLevel: boolean): string[] {
  if (path.trim() === '') return ["can't be blank"]
  const fault = pathFault(path, topLevel)
  return fault === undefined ? [] : [fault]
}

interface Given {
  readonly name?: string | undefined
  readonly path?: string | undefined
  readonly description?: string | null | undefined
}

/** Why a group cannot be called that, attribute by attribute; nothing of what is not given. */
export function groupFaults({ name, path, description }: Given, topLevel: boolean): Faults {
  const found = {
    name: name === undefined ? [] : nameFaults(name),
    path: path === undefined ? [] : pathFaults(path, topLevel),
    description: lengthFaults(description, LONGEST_DESCRIPTION),
  }
  return Object.fromEntries(Object.entries(found).filter(([, texts]) => texts.length > 0))
}

const DEEPEST = 20

/** Why nothing can be put into a group so deep. */
export const nestingFaults = (parent: Pick<Group, 'traversal_ids'> | undefined): Faults =>
  (parent?.traversal_ids.length ?? 0) > DEEPEST ? { parent_id: ['has too deep level of nesting'] } : {}

interface Sight {
  readonly visibility: Visibility
  readonly parent?: Visibility | undefined
  /** Whether projects or groups inside are seen by more. */
  readonly projects?: boolean
  readonly groups?: boolean
}

/** Why a group cannot be seen by as many, or as few. */
export function visibilityFaults({ visibility, parent, projects, groups }: Sight): Faults {
  const not = `${visibility} is not allowed since`
  const texts = [
    ...(projects ? [`${not} this group contains projects with higher visibility.`] : []),
    ...(groups ? [`${not} there are sub-groups with higher visibility.`] : []),
    ...(parent !== undefined && isWider(visibility, parent)
      ? [`${not} the parent group has a ${parent} visibility.`]
      : []),
  ]
  return texts.length > 0 ? { visibility_level: texts } : {}
}

/** Whether somebody may create groups in that one: as it says itself, its owners or its maintainers too. */
export const mayCreateSubgroup = (actor: Viewer, parent: Group): boolean =>
  actor.admin ||
  parent.role >= (settingsOf(parent).subgroup_creation_level === 'owner' ? ROLES.owner : ROLES.maintainer)

/** Faults in the words of the published refusal of a group that cannot be made. */
export const notSaved = (faults: Faults): string =>
  `Failed to save group {${Object.entries(faults)
    .map(([field, texts]) => `:${field}=>[${texts.map((text) => JSON.stringify(text)).join(', ')}]`)
    .join(', ')}}`

/** The cursor after the last group of a page in the order of names. */
export const writeCursor = ({ name, id }: { name: string; id: number }): string =>
  Buffer.from(JSON.stringify({ name, id: String(id), _kd: 'n' })).toString('base64url')

/** Reads a cursor; undefined when it is none of ours. */
export function readCursor(text: string): { name: string; id: number } | undefined {
  try {
    const { name, id } = JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown>
    const sound =
      typeof name === 'string' && !name.includes('\0') && typeof id === 'string' && /^\d{1,15}$/.test(id)
    return sound ? { name, id: Number(id) } : undefined
  } catch {
    return undefined
  }
}
