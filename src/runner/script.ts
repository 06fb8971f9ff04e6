import type { Values } from './variables.ts'

// Scripts for bash.

const IDENTIFIER = /^[A-Za-z_]\w*$/

/** A text as one word of bash. */
const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

const exportsOf = (values: Values): string[] =>
  [...values].filter(([key]) => IDENTIFIER.test(key)).map(([key, value]) => `export ${key}=${quote(value)}`)

const GREEN = '\u001B[32;1m'
const RESET = '\u001B[0;m'

/** A line that tells which command runs: of several lines the first. */
function announce(text: string): string {
  const [first = '', ...rest] = text.split('\n')
  const suffix = rest.length > 0 ? ' # collapsed multi-line command' : ''
  return `printf '%s\\n' ${quote(`${GREEN}$ ${first}${suffix}${RESET}`)}`
}

/** Runs the commands in one shell, which ends with the status of the first that fails. */
export const scriptOf = (commands: readonly string[], values: Values, directory: string): string =>
  [
    'set -eo pipefail',
    'set +o noclobber',
    ...exportsOf(values),
    `cd ${quote(directory)}`,
    ...commands.flatMap((text) => [announce(text), text]),
    '',
  ].join('\n')
