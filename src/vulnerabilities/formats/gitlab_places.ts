import { optionalObject, type Json } from '../finding.ts'

/** The tag of an image, behind the last `/`, or its digest: both change with each build. */
const VERSION = /(?:@sha256:[0-9a-f]+|:[^/:@]+)+$/i
const image = (name: unknown): unknown => (typeof name === 'string' ? name.replace(VERSION, '') : undefined)
const packageName = (location: Json): unknown =>
  optionalObject(optionalObject(location['dependency'])['package'])['name']

const inFile = ({ file, start_line, end_line }: Json): unknown[] => [file, start_line, end_line]
const inImage = (location: Json): unknown[] => [
  image(location['default_branch_image'] ?? location['image']),
  packageName(location),
]
const atAddress = ({ path, method, param }: Json): unknown[] => [path, method, param]

/** By type of report; the first part has to be there. */
const PLACES: ReadonlyMap<string, (location: Json) => unknown[]> = new Map([
  ['sast', inFile],
  ['secret_detection', inFile],
  ['dependency_scanning', (location) => [location['file'], packageName(location)]],
  ['container_scanning', inImage],
  ['dast', atAddress],
  ['api_fuzzing', atAddress],
  ['coverage_fuzzing', ({ crash_type, crash_state }) => [crash_type, crash_state]],
])

/**
 * The part of a location that stays the same from scan to scan: no versions, no commits, no tags of images. All of it
 * where the report lacks the expected field.
 */
export function placeOf(reportType: string, location: Json): unknown {
  const place = PLACES.get(reportType)?.(location)
  return place === undefined || typeof place[0] !== 'string' ? location : place
}
