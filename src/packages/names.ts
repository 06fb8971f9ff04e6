import type { PackageType } from '../db/schema/packages.ts'

export type { PackageType } from '../db/schema/packages.ts'

/** The package types that the interface knows, in the published order. */
export const PACKAGE_TYPES: readonly PackageType[] = [
  'maven',
  'npm',
  'conan',
  'nuget',
  'pypi',
  'composer',
  'generic',
  'golang',
  'debian',
  'rubygems',
  'helm',
  'terraform_module',
  'rpm',
  'ml_model',
]

/** The name under which all spellings of a package's name are one; patterns keep their `*`. */
export const canonicalName = (type: PackageType, name: string): string =>
  type === 'pypi' ? name.replaceAll(/[-_.]+/g, '-').toLowerCase() : name.toLowerCase()

/** An optional scope and a name, in the published alphabet. */
const NPM_NAME = /^(?:@[\w.][\w.-]*\/)?[-+.\w]+$/
const MAX_NAME = 214
export const isNpmName = (name: string): boolean =>
  name.length <= MAX_NAME && NPM_NAME.test(name) && !name.split('/').some((part) => /^\.+$/.test(part))

/** `scope` of `@scope/name`; undefined without one. */
export const npmScope = (name: string): string | undefined => /^@([^/]+)\//.exec(name)?.[1]
