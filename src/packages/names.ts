/** The package types that the interface knows. */
const PACKAGE_TYPES = [
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
] as const
export type PackageType = (typeof PACKAGE_TYPES)[number]

/** The name under which all spellings of a package's name are one; patterns keep their `*`. */
export const canonicalName = (type: PackageType, name: string): string =>
  type === 'pypi' ? name.replaceAll(/[-_.]+/g, '-').toLowerCase() : name.toLowerCase()
