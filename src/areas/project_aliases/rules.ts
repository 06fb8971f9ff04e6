import { isLonger, tooLong } from '../../core/lengths.ts'

const LONGEST = 255
const FORMAT =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'."

/** Why a name cannot be an alias. It stands in an address in the place of a project's path, so it looks like one. */
export function nameFaults(name: string): string[] {
  if (name.trim() === '') return ["can't be blank"]
  if (isLonger(name, LONGEST)) return [tooLong(LONGEST)]
  return /^[\p{L}\p{N}_.][\p{L}\p{N}_.-]*$/u.test(name) && !/\.(git|atom)$/.test(name) ? [] : [FORMAT]
}
