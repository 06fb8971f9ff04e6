import { isLonger, tooLong } from '../../core/values/lengths.ts'

const MAX_NAME_CHARACTERS = 255
const FORMAT =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'."

/**
 * Why a name cannot be an alias. It stands in an address in the place of a project's path and takes the same letters:
 * those of other scripts can look like them.
 */
export function nameFaults(name: string): string[] {
  if (name.trim() === '') return ["can't be blank"]
  if (isLonger(name, MAX_NAME_CHARACTERS)) return [tooLong(MAX_NAME_CHARACTERS)]
  return /^[a-z\d_.][a-z\d_.-]*$/i.test(name) && !/\.(git|atom)$/.test(name) ? [] : [FORMAT]
}
