import { lengthFaults } from '../../core/values/lengths.ts'
import type { CiVariable } from '../../db/schema/ci_variables.ts'

const MAX_KEY_CHARACTERS = 255
const MAX_VALUE_CHARACTERS = 10_000
const MAX_DESCRIPTION_CHARACTERS = 255
const MAX_SCOPE_CHARACTERS = 255

type Checked = Pick<CiVariable, 'key' | 'masked' | 'hidden' | 'raw' | 'environment_scope' | 'description'> & {
  readonly value: string
}

/** Only values without blanks and of some length can be found again in a log. */
const isMaskable = (value: string, raw: boolean): boolean =>
  raw ? /^\S{8,}$/.test(value) : /^[a-zA-Z0-9_+=/@:.~-]{8,}$/.test(value)

/** Why a variable cannot be kept, by attribute. */
export function variableFaults(variable: Checked): Record<string, string[]> {
  const { key, value, masked, raw, environment_scope, description } = variable
  const faults = {
    key: [
      ...(key === '' ? ["can't be blank"] : []),
      ...lengthFaults(key, MAX_KEY_CHARACTERS),
      ...(/^\w+$/.test(key) ? [] : ["can contain only letters, digits and '_'."]),
    ],
    value: [
      ...lengthFaults(value, MAX_VALUE_CHARACTERS),
      ...(masked && !isMaskable(value, raw) ? ['is invalid'] : []),
    ],
    environment_scope: [
      ...lengthFaults(environment_scope, MAX_SCOPE_CHARACTERS),
      ...(/^[a-zA-Z0-9_/${}. *-]+$/.test(environment_scope)
        ? []
        : ["can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', '*' and spaces"]),
    ],
    description: lengthFaults(description, MAX_DESCRIPTION_CHARACTERS),
  }
  return Object.fromEntries(Object.entries(faults).filter(([, texts]) => texts.length > 0))
}
