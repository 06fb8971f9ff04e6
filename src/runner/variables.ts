import type { Variable } from './payload.ts'

/** The values of a job's variables by name, the last one of a name. */
export type Values = ReadonlyMap<string, string>

const REFERENCE = /\$(?:\$|(\w+)|\{(\w+)\})/g

/** Puts values in the place of `$NAME` and `${NAME}`, once; unknown names become empty, `$$` a dollar sign. */
export const expand = (text: string, values: Values): string =>
  text.replaceAll(REFERENCE, (_all, bare?: string, braced?: string) => {
    const name = bare ?? braced
    return name === undefined ? '$' : (values.get(name) ?? '')
  })

/** The environment of a job: values that are not raw have theirs expanded. Files are left to the caller. */
export function environmentOf(variables: readonly Variable[]): Map<string, string> {
  const given: Values = new Map(variables.map(({ key, value }) => [key, value]))
  return new Map(
    variables.map(({ key, value, raw, file }) => [
      key,
      raw === true || file === true ? value : expand(value, given),
    ]),
  )
}
