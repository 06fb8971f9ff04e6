import { lengthFaults } from '../values/lengths.ts'
import type { Namespace } from '../../db/schema/tables.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { ROLES, canSee } from '../sight/roles.ts'
import { narrower } from '../values/visibilities.ts'
import type { Viewer } from '../sight/roles.ts'

/** A namespace that a project may live in, with what the caller holds there. */
export type TargetNamespace = Namespace & { readonly role: number }

/** Names of pages of a project, which a project inside a group of its name would shadow. */
const RESERVED = new Set(
  '- badges blame blob builds commits create create_dir edit files find_file new preview raw refs tree update wikis'.split(
    ' ',
  ),
)
const MAX_NAME_CHARACTERS = 255
const MAX_DESCRIPTION_CHARACTERS = 2_000
export const MAX_TOPICS = 100

const PATH_TEXT =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'"
const NAME_TEXT =
  "can contain only letters, digits, emoji, '_', '.', '+', dashes, or spaces. It must start with a letter, digit, emoji, or '_'."

const isPath = (path: string): boolean =>
  /^[\w.][\w.-]*$/.test(path) && !/\.(git|atom)$/i.test(path) && !/^\.{1,2}$/.test(path)
const isName = (name: string): boolean =>
  /^[\p{L}\p{N}\p{Pd}\p{Emoji_Presentation}\p{Extended_Pictographic}_][\p{L}\p{N}\p{M}\p{Pd}\p{Emoji_Presentation}\p{Extended_Pictographic}\u200d_.+ ]*$/u.test(
    name,
  )

interface Named {
  readonly name: string
  readonly path: string
}

/** Name and path of a project when only one is given: a valid path is its own name, and the other way round. */
export function nameBoth({
  name,
  path,
}: {
  readonly name?: string | undefined
  readonly path?: string | undefined
}): Named {
  const own = name?.trim()
  if (path) return { name: own || path, path }
  const given = own ?? ''
  return { name: given, path: isPath(given) ? given : parameterized(given) }
}

const parameterized = (name: string): string =>
  name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')

interface Described {
  readonly name?: string | undefined
  readonly path?: string | undefined
  readonly description?: string | null | undefined
}
type Faults = Record<string, string[]>

/** Why a project cannot be called so, attribute by attribute, in the published words. */
export function faultsOf({ name, path, description }: Described): Faults {
  const all: Faults = {
    name: name === undefined ? [] : nameFaults(name),
    path: path === undefined ? [] : pathFaults(path),
    description: lengthFaults(description, MAX_DESCRIPTION_CHARACTERS),
  }
  return Object.fromEntries(Object.entries(all).filter(([, faults]) => faults.length > 0))
}

function nameFaults(name: string): string[] {
  if (name === '') return ["can't be blank"]
  return [...lengthFaults(name, MAX_NAME_CHARACTERS), ...(isName(name) ? [] : [NAME_TEXT])]
}

function pathFaults(path: string): string[] {
  if (path === '') return ["can't be blank"]
  return [
    ...lengthFaults(path, MAX_NAME_CHARACTERS),
    ...(isPath(path) ? [] : [PATH_TEXT]),
    ...(RESERVED.has(path.toLowerCase()) ? [`${path} is a reserved name`] : []),
  ]
}

/** Topics as they are kept: without blanks around them, each once. */
export function cleanTopics(given: readonly string[]): string[] {
  const known = new Map<string, string>()
  for (const topic of given.map((each) => each.trim()))
    if (topic !== '' && !known.has(topic.toLowerCase())) known.set(topic.toLowerCase(), topic)
  return [...known.values()]
}

type Bounds = Pick<TargetNamespace, 'kind' | 'visibility'>

/** A personal namespace bounds nothing. */
export const bounded = (home: Bounds, wanted: Visibility): Visibility =>
  home.kind === 'user' ? wanted : narrower(wanted, home.visibility)

/** Why a project of that visibility cannot stand there. */
export const visibilityFaults = (home: Bounds, wanted: Visibility): Faults =>
  bounded(home, wanted) === wanted
    ? {}
    : { visibility_level: [`${wanted} is not allowed in a ${home.visibility} group.`] }

const CREATORS: Readonly<Record<string, number>> = {
  owner: ROLES.owner,
  maintainer: ROLES.maintainer,
  developer: ROLES.developer,
}

/** The least level that makes projects in a group, by the group's own setting. */
const creationLevel = (setting: unknown): number =>
  typeof setting === 'string' ? (CREATORS[setting] ?? Infinity) : ROLES.developer

/** Whether the caller sees the namespace. */
export const maySee = (actor: Viewer, home: TargetNamespace): boolean =>
  home.kind === 'user' || canSee(actor, home.visibility, home.role, ROLES.minimal_access)

/** Whether the caller may make projects there, or bring them. */
export function mayFill(actor: Viewer, home: TargetNamespace): boolean {
  if (actor.admin) return true
  if (home.kind === 'user') return home.owner_id === actor.id
  return home.role >= creationLevel(home.settings['project_creation_level'])
}

export const limitText = (most: number): string =>
  most === 0
    ? 'You cannot create projects in your personal namespace. Contact your administrator.'
    : `You've reached your limit of ${most} projects created. Contact your administrator.`
