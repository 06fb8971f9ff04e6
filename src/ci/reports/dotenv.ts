import { limitOf } from '../../core/settings/plan_limits.ts'
import type { Db } from '../../db/db.ts'
import type { Variable } from '../config/plan.ts'

// Reports of the kind dotenv: `KEY=VALUE` lines that become variables of later jobs.

/** The published refusal of a dotenv report; its message is the text. */
export class BadDotenv extends Error {}

export interface DotenvLimits {
  /** Bytes of the file. */
  readonly size: number
  /** Different names in it. */
  readonly variables: number
}

/** The limits of the plan that a project stands in. */
export async function dotenvLimits(
  db: Db,
  place: { readonly traversal_ids: readonly number[] },
): Promise<DotenvLimits> {
  return {
    size: await limitOf(db, place, 'dotenv_size'),
    variables: await limitOf(db, place, 'dotenv_variables'),
  }
}

export const dotenvTooBig = (limit: number): BadDotenv =>
  new BadDotenv(`Dotenv Artifact Too Big. Maximum Allowable Size: ${limit}`)

const FAULTS: readonly (readonly [RegExp, string])[] = [
  [/^$/, "Key can't be blank"],
  [/[^A-Za-z0-9_]|^$/, "Key can contain only letters, digits and '_'."],
  [/^.{256,}$/s, 'Key is too long (maximum is 255 characters)'],
]

/** PowerShell writes UTF-16; bytes that are no text become U+FFFD. */
function decode(bytes: Uint8Array): string {
  const isWide = bytes[0] === 0xff && bytes[1] === 0xfe
  return new TextDecoder(isWide ? 'utf-16le' : 'utf-8').decode(bytes)
}

/**
 * Reads a dotenv file. Values are taken as they stand, quotes and `#` included; of several lines with one name the last
 * holds. Blank lines, lines without `=`, other names and what exceeds a limit throw BadDotenv.
 */
export function readDotenv(bytes: Uint8Array, limits: DotenvLimits): Variable[] {
  if (bytes.length > limits.size) throw dotenvTooBig(limits.size)
  const values = new Map<string, string>()
  const lines = decode(bytes).split('\n')
  if (lines.at(-1) === '') lines.pop()
  for (const line of lines) {
    const at = line.indexOf('=')
    if (at < 0) throw new BadDotenv('Invalid Format')
    const key = line.slice(0, at).trim()
    const faults = FAULTS.filter(([pattern]) => pattern.test(key)).map(([, text]) => text)
    if (faults.length > 0) throw new BadDotenv(`Validation failed: ${faults.join(', ')}`)
    const value = line.slice(at + 1).trim()
    // No process takes a variable with this character.
    if (value.includes('\0')) throw new BadDotenv('Invalid Format')
    values.set(key, value)
    if (values.size > limits.variables)
      throw new BadDotenv(`Dotenv files cannot have more than ${limits.variables} variables`)
  }
  return [...values].map(([key, value]) => ({ key, value }))
}
