import type { PackageType } from '../../packages/names.ts'

/** The types of packages that a rule can be about, in the published order. */
export const PROTECTED_TYPES = [
  'conan',
  'generic',
  'helm',
  'maven',
  'npm',
  'nuget',
  'pypi',
] as const satisfies readonly PackageType[]

const MAX_PATTERN = 255
const NPM_PATTERN = /^(?:\*|(?:@[\w.][\w.-]*\/)?[-+._a-zA-Z0-9*]+)$/
const PYPI_PATTERN = /^[-+._a-zA-Z0-9*]+$/

/** The faults of a rule's pattern, in the published sentences. */
export function patternFaults(type: string, pattern: string): string[] {
  const faults: string[] = []
  if (pattern.trim() === '') faults.push("can't be blank")
  if (pattern.length > MAX_PATTERN) faults.push(`is too long (maximum is ${MAX_PATTERN} characters)`)
  if (type === 'npm' && !NPM_PATTERN.test(pattern))
    faults.push('should be a valid NPM package name with optional wildcard characters.')
  if (type === 'pypi' && !PYPI_PATTERN.test(pattern))
    faults.push('should be a valid PyPI package name with optional wildcard characters.')
  return faults.map((fault) => `Package name pattern ${fault}`)
}
