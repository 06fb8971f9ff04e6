import {
  BadEntry,
  cweOf,
  filledOf,
  fingerprintOf,
  listOf,
  objectOf,
  objectsOf,
  optionalObject,
  textOf,
  type Json,
  type Scanner,
} from '../finding.ts'
import type { Identifier, Severity } from '../../db/schema/vulnerabilities.ts'
import type { Format } from './format.ts'

const LEVELS = new Map<string, Severity>([
  ['error', 'high'],
  ['warning', 'medium'],
  ['note', 'low'],
  ['none', 'info'],
])

interface Run {
  readonly scanner: Scanner
  readonly rules: ReadonlyMap<string, Json>
}

/** By the score that CodeQL and others give a rule, else by the level of the result. */
function severityIn(result: Json, rule: Json): Severity {
  const score = Number(optionalObject(rule['properties'])['security-severity'])
  if (score > 0) return score >= 9 ? 'critical' : score >= 7 ? 'high' : score >= 4 ? 'medium' : 'low'
  const configured = textOf(optionalObject(rule['defaultConfiguration'])['level'])
  const level = textOf(result['level']) || configured || 'warning'
  const severity = LEVELS.get(level)
  if (severity === undefined) throw new BadEntry(`level "${level}" is not known`)
  return severity
}

function identifiersOf(id: string, rule: Json, { scanner, scanner_name }: Scanner): Identifier[] {
  const url = textOf(rule['helpUri'])
  const own = { type: `${scanner}_rule_id`, name: `${scanner_name} rule ${id}`, value: id }
  const tags = listOf(optionalObject(rule['properties'])['tags'])
  return [{ ...own, ...(url !== '' && { url }) }, ...tags.flatMap((tag) => cweOf(textOf(tag)) ?? [])]
}

function locationOf(result: Json): Json {
  const [first] = objectsOf(result['locations'])
  const physical = optionalObject(first?.['physicalLocation'])
  const region = optionalObject(physical['region'])
  const fields = {
    file: optionalObject(physical['artifactLocation'])['uri'],
    start_line: region['startLine'],
    start_column: region['startColumn'],
    end_line: region['endLine'],
    end_column: region['endColumn'],
  }
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => typeof value === 'string' || typeof value === 'number'),
  )
}

/** SARIF 2.1.0. Results that passed or are absent are no findings. */
export const sarif: Format<readonly Run[]> = {
  chooseShared: (path) => {
    if (path.length < 3) return path.length === 0 || path[0] === 'runs' ? 'enter' : 'skip'
    return path[2] === 'tool' ? 'take' : 'skip'
  },
  readShared: (slices) => {
    if (slices.length === 0) throw new BadEntry('runs is missing')
    const runs: Run[] = []
    for (const { path, value } of slices) {
      const driver = objectOf(optionalObject(value)['driver'], 'tool.driver')
      const name = filledOf(driver['name'], 'tool.driver.name')
      const rules = objectsOf(driver['rules']).map((rule) => [textOf(rule['id']), rule] as const)
      const scanner = { report_type: 'sast', scanner: name.toLowerCase(), scanner_name: name }
      runs[Number(path[1])] = { scanner, rules: new Map(rules) }
    }
    return runs
  },
  scanners: (runs) => runs.flatMap((run) => run.scanner),
  chooseEntry: (path) => {
    if (path.length < 3) return path.length === 0 || path[0] === 'runs' ? 'enter' : 'skip'
    if (path[2] !== 'results') return 'skip'
    return path.length === 3 ? 'enter' : 'take'
  },
  read: ({ path, value }, runs) => {
    const run = runs[Number(path[1])]
    if (run === undefined) throw new BadEntry('the run has no tool')
    const result = objectOf(value, 'the entry')
    if (!['', 'fail', 'review', 'open'].includes(textOf(result['kind']))) return []
    if (result['baselineState'] === 'absent') return []
    const id = textOf(result['ruleId']) || filledOf(optionalObject(result['rule'])['id'], 'ruleId')
    const rule = run.rules.get(id) ?? {}
    const location = locationOf(result)
    const given = optionalObject(result['fingerprints'] ?? result['partialFingerprints'])
    const place = Object.keys(given).length > 0 ? [location['file'], given] : location
    const message = filledOf(optionalObject(result['message'])['text'], 'message.text')
    return [
      {
        ...run.scanner,
        fingerprint: fingerprintOf(id, place),
        name: message,
        description: textOf(optionalObject(rule['fullDescription'] ?? rule['shortDescription'])['text']),
        solution: '',
        severity: severityIn(result, rule),
        identifiers: identifiersOf(id, rule, run.scanner),
        location,
        cvss_vectors: [],
      },
    ]
  },
}
