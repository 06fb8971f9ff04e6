import { readFileSync } from 'node:fs'
import { PACKAGE_ROOT } from '../../package_root.ts'

/** The version of the published interface that this program follows: clients choose their calls by it. */
export const INTERFACE_VERSION = '17.9.0'

const program = JSON.parse(readFileSync(new URL('package.json', PACKAGE_ROOT), 'utf8')) as {
  version: string
}

/** This program's own version, where the interface has the name of a build. */
export const REVISION = `guildhall-${program.version}`
