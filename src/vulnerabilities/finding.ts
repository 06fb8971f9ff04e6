import { createHash } from 'node:crypto'
import type { Identifier, Severity } from '../db/schema_vulnerabilities.ts'

/** One finding of a report, as it is stored. */
export interface Finding {
  readonly report_type: string
  readonly scanner: string
  readonly scanner_name: string
  /** The same for the same weakness at the same place, in every report of the scanner. */
  readonly fingerprint: string
  readonly name: string
  readonly description: string
  readonly solution: string
  readonly severity: Severity
  readonly identifiers: readonly Identifier[]
  readonly location: Readonly<Record<string, unknown>>
  readonly cvss_vectors: readonly string[]
}

/** The scanner of a report, or of a part of it: its findings that a report no longer names are gone. */
export type Scanner = Pick<Finding, 'report_type' | 'scanner' | 'scanner_name'>

/** An entry of a report that is no finding; the message says why. */
export class BadEntry extends Error {}

export type Json = Readonly<Record<string, unknown>>
const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Readers of a report's fields. They throw BadEntry with the name of the field. */
export const objectOf = (value: unknown, name: string): Json => {
  if (!isObject(value)) throw new BadEntry(`${name} is not an object`)
  return value
}
export const optionalObject = (value: unknown): Json => (isObject(value) ? value : {})
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])
export const objectsOf = (value: unknown): readonly Json[] => listOf(value).filter(isObject)
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const filledOf = (value: unknown, name: string): string => {
  if (typeof value !== 'string' || value.trim() === '') throw new BadEntry(`${name} is missing`)
  return value
}

const SEVERITIES: Readonly<Record<string, Severity>> = {
  info: 'info',
  unknown: 'unknown',
  undefined: 'unknown',
  low: 'low',
  medium: 'medium',
  moderate: 'medium',
  high: 'high',
  critical: 'critical',
}
export function severityOf(value: unknown): Severity {
  if (value === undefined) return 'unknown'
  const severity = SEVERITIES[textOf(value).toLowerCase()]
  if (severity === undefined) throw new BadEntry(`severity ${JSON.stringify(value)} is not known`)
  return severity
}

/** The fingerprint of what identifies a finding; the order of an object's keys does not count. */
export const fingerprintOf = (...parts: readonly unknown[]): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(parts)))
    .digest('hex')
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sorted(value[key])]),
  )
}

/** `CWE-79` in its several spellings. */
export function cweOf(text: string): Identifier | undefined {
  const number = /^(?:external\/cwe\/)?cwe-0*(\d+)$/i.exec(text)?.[1]
  if (number === undefined) return undefined
  const url = `https://cwe.mitre.org/data/definitions/${number}.html`
  return { type: 'cwe', name: `CWE-${number}`, value: number, url }
}
