import { createHash } from 'node:crypto'
import type { Identifier, Severity } from '../db/schema/vulnerabilities.ts'

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

const SEVERITIES = new Map<string, Severity>([
  ['info', 'info'],
  ['unknown', 'unknown'],
  ['undefined', 'unknown'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['moderate', 'medium'],
  ['high', 'high'],
  ['critical', 'critical'],
])
export function severityOf(value: unknown): Severity {
  if (value === undefined) return 'unknown'
  const severity = SEVERITIES.get(textOf(value).toLowerCase())
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

/** Characters that are stored of a text; longer ones are cut. */
const MAX_CHARS = { name: 255, description: 15_000, solution: 7_000 } as const
/** A longer name of a scanner would not fit into an index. */
const MAX_SCANNER_CHARS = 255
const MAX_URL_CHARS = 2_048
const MAX_IDENTIFIERS = 20
const MAX_CVSS_VECTORS = 10

/** The first characters of a text; no half of a surrogate pair is left at its end. */
const cut = (text: string, chars: number): string =>
  text.length <= chars ? text : text.slice(0, chars).replace(/[\uD800-\uDBFF]$/, '')

/** The finding as it is stored: what its texts and lists hold beyond their limits is left out. */
export const limited = (finding: Finding): Finding => ({
  ...finding,
  name: cut(finding.name, MAX_CHARS.name),
  description: cut(finding.description, MAX_CHARS.description),
  solution: cut(finding.solution, MAX_CHARS.solution),
  identifiers: finding.identifiers.slice(0, MAX_IDENTIFIERS).map(({ type, name, value, url }) => ({
    type: cut(type, MAX_CHARS.name),
    name: cut(name, MAX_CHARS.name),
    value: cut(value, MAX_CHARS.name),
    ...(url !== undefined && url.length <= MAX_URL_CHARS && { url }),
  })),
  cvss_vectors: finding.cvss_vectors.slice(0, MAX_CVSS_VECTORS).map((vector) => cut(vector, MAX_CHARS.name)),
})

/** Throws BadEntry for a scanner that cannot be stored. */
export function checkScanner(scanner: Scanner): void {
  if ([scanner.scanner, scanner.scanner_name].some((name) => name.length > MAX_SCANNER_CHARS))
    throw new BadEntry(`the name of the scanner is longer than ${MAX_SCANNER_CHARS} characters`)
  storedJson(scanner)
}

/** JSON for the database. Throws BadEntry for text that it does not store: NUL, and halves of surrogate pairs. */
export function storedJson(value: object): string {
  const json = JSON.stringify(value)
  if (/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(json))
    throw new BadEntry('the entry holds characters that cannot be stored')
  return json
}
