import {
  BadEntry,
  cweOf,
  filledOf,
  fingerprintOf,
  listOf,
  objectOf,
  objectsOf,
  optionalObject,
  severityOf,
  textOf,
  type Json,
  type Scanner,
} from '../finding.ts'
import type { Identifier } from '../../db/schema/vulnerabilities.ts'
import type { Format } from './format.ts'

const SCANNER: Scanner = {
  report_type: 'dependency_scanning',
  scanner: 'npm-audit',
  scanner_name: 'npm audit',
}

function identifiersOf(advisory: Json): Identifier[] {
  const url = textOf(advisory['url'])
  const ghsa = /GHSA-[\w-]+/.exec(url)?.[0]
  const source = advisory['source']
  return [
    ...(ghsa === undefined ? [] : [{ type: 'ghsa', name: ghsa, value: ghsa, url }]),
    ...(typeof source === 'number' ? [{ type: 'npm', name: `NPM-${source}`, value: String(source) }] : []),
    ...listOf(advisory['cwe']).flatMap((cwe) => cweOf(textOf(cwe)) ?? []),
  ]
}

/** `npm audit --json`, version 2: a finding is an advisory about a package; packages that depend on it are effects. */
export const npmAudit: Format<Scanner> = {
  chooseShared: (path) => (path.length === 0 ? 'enter' : path[0] === 'auditReportVersion' ? 'take' : 'skip'),
  readShared: ([slice]) => {
    if (slice?.value !== 2) throw new BadEntry('auditReportVersion is not 2')
    return SCANNER
  },
  scanners: (scanner) => [scanner],
  chooseEntry: (path) =>
    path.length === 0 || (path.length === 1 && path[0] === 'vulnerabilities')
      ? 'enter'
      : path[0] === 'vulnerabilities'
        ? 'take'
        : 'skip',
  read: ({ value }, scanner) => {
    const entry = objectOf(value, 'the entry')
    const name = filledOf(entry['name'], 'name')
    return objectsOf(entry['via']).map((advisory) => {
      const identifiers = identifiersOf(advisory)
      const [primary] = identifiers
      if (primary === undefined) throw new BadEntry('via names no advisory')
      const vector = textOf(optionalObject(advisory['cvss'])['vectorString'])
      return {
        ...scanner,
        fingerprint: fingerprintOf(primary.type, primary.value, name),
        name: filledOf(advisory['title'], 'via.title'),
        description: '',
        solution: '',
        severity: severityOf(advisory['severity']),
        identifiers,
        location: {
          file: 'package-lock.json',
          dependency: { package: { name }, version: textOf(advisory['range']) },
        },
        cvss_vectors: vector === '' ? [] : [vector],
      }
    })
  },
}
