import {
  BadEntry,
  filledOf,
  fingerprintOf,
  listOf,
  objectOf,
  objectsOf,
  optionalObject,
  severityOf,
  textOf,
  type Scanner,
} from '../finding.ts'
import type { Format } from './format.ts'
import { placeOf } from './gitlab_places.ts'

const TYPES = (
  'sast dependency_scanning container_scanning dast secret_detection coverage_fuzzing api_fuzzing ' +
  'cluster_image_scanning generic'
).split(' ')

/** Security reports of GitLab's analyzers, schema 14 and 15. */
export const gitlab: Format<Scanner> = {
  chooseShared: (path) => (path.length === 0 ? 'enter' : path[0] === 'scan' ? 'take' : 'skip'),
  readShared: ([slice]) => {
    const scan = objectOf(slice?.value, 'scan')
    const scanner = objectOf(scan['scanner'], 'scan.scanner')
    const report_type = filledOf(scan['type'], 'scan.type')
    if (!TYPES.includes(report_type)) throw new BadEntry(`scan.type "${report_type}" is not known`)
    return {
      report_type,
      scanner: filledOf(scanner['id'], 'scan.scanner.id'),
      scanner_name: filledOf(scanner['name'], 'scan.scanner.name'),
    }
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
    const identifiers = objectsOf(entry['identifiers']).map((each) => ({
      type: filledOf(each['type'], 'identifiers.type'),
      name: filledOf(each['name'], 'identifiers.name'),
      value: filledOf(each['value'], 'identifiers.value'),
      ...(typeof each['url'] === 'string' && { url: each['url'] }),
    }))
    const [primary] = identifiers
    if (primary === undefined) throw new BadEntry('identifiers is missing')
    const location = objectOf(entry['location'], 'location')
    const name = textOf(entry['name']) || textOf(entry['message']) || primary.name
    return [
      {
        ...scanner,
        fingerprint: fingerprintOf(primary.type, primary.value, placeOf(scanner.report_type, location)),
        name,
        description: textOf(entry['description']),
        solution: textOf(entry['solution']),
        severity: severityOf(entry['severity']),
        identifiers,
        location,
        cvss_vectors: listOf(entry['cvss_vectors'])
          .map((each) => textOf(optionalObject(each)['vector']))
          .filter((vector) => vector !== ''),
      },
    ]
  },
}
