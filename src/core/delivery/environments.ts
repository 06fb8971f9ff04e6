import { createHash } from 'node:crypto'
import type { EnvironmentTier } from '../../db/schema/delivery.ts'
import { lengthFaults } from '../values/lengths.ts'

// Names of environments, and what follows from them.

export const TIERS = [
  'production',
  'staging',
  'testing',
  'development',
  'other',
] as const satisfies readonly EnvironmentTier[]

/** The first pattern that a part of the name matches decides. */
const TIER_PATTERNS: readonly (readonly [RegExp, EnvironmentTier])[] = [
  [/dev|review|trunk/i, 'development'],
  [/test|tst|int|ac(?:ce)?pt|qa|qc|control|quality/i, 'testing'],
  [/sta?g|mode?l|pre|demo|non/i, 'staging'],
  [/pro?d|live/i, 'production'],
]
/** The tier of an environment that is given none. */
export const guessTier = (name: string): EnvironmentTier =>
  TIER_PATTERNS.find(([pattern]) => pattern.test(name))?.[1] ?? 'other'

const MAX_SLUG_CHARACTERS = 24
const SUFFIX_CHARACTERS = 6

/**
 * The name as it stands in host names: lower-case, at most 24 characters, beginning with a letter. One that differs from
 * the name ends with six characters of its digest, so that two names have two slugs.
 */
export function environmentSlug(name: string): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]/g, '-')
  const slug = (/^[a-z]/.test(plain) ? plain : `env-${plain}`).replaceAll(/-+/g, '-')
  if (slug === name && slug.length <= MAX_SLUG_CHARACTERS && !slug.endsWith('-')) return slug
  const digest = BigInt(`0x${createHash('sha256').update(name).digest('hex')}`).toString(36)
  const start = slug.slice(0, MAX_SLUG_CHARACTERS - SUFFIX_CHARACTERS - 1).replace(/-$/, '')
  return `${start}-${digest.slice(-SUFFIX_CHARACTERS)}`
}

const MAX_CHARACTERS = 255
const NAME = /^[A-Za-z0-9\-_/${}. ]+$/
/** The published text on a name with other characters. */
export const ENVIRONMENT_NAME_FORMAT =
  "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces, but it cannot start or end with '/'"
const hasFormat = (name: string): boolean => NAME.test(name) && !name.startsWith('/') && !name.endsWith('/')

/** The faults of a name, in the published words. */
export const environmentNameFaults = (name: string): string[] => [
  ...(name.trim() === '' ? ["can't be blank"] : []),
  ...lengthFaults(name, MAX_CHARACTERS),
  ...(hasFormat(name) ? [] : [ENVIRONMENT_NAME_FORMAT]),
]

const UNSAFE_SCHEMES: ReadonlySet<string> = new Set(['data', 'javascript', 'vbscript'])

/** The faults of an environment's address. */
export function externalUrlFaults(url: string): string[] {
  const scheme = /^\s*([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase()
  return [
    ...lengthFaults(url, MAX_CHARACTERS),
    ...(scheme !== undefined && UNSAFE_SCHEMES.has(scheme) ? [`${scheme} scheme is not allowed`] : []),
  ]
}
