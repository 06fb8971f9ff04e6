import { constants } from 'node:fs'
import { access, chmod, readFile, stat, statfs } from 'node:fs/promises'
import type { Config } from '../config.ts'
import { checkGit } from '../git/version.ts'
import { fault, messageOf, ok, warning, type Finding } from './finding.ts'

const MB = 1024 * 1024
/** Bytes below which the server says that its disk is full, and below which it soon will. */
const FULL = 16 * MB
const NEARLY_FULL = 1024 * MB

/** Checks what needs no database: git, the data directory, its disk and the secret. */
export const checkMachine = (config: Config): Promise<Finding[]> =>
  Promise.all([checkPrograms(config), checkFolder(config), checkDisk(config), checkSecretFile(config)])

const checkPrograms = ({ path }: Config): Promise<Finding> =>
  checkGit(path).then(
    () => ok('git', 'git is there and new enough'),
    (error: unknown) => fault('git', `${messageOf(error)}; install it, or set PATH`),
  )

async function checkFolder({ dataDir }: Config): Promise<Finding> {
  const check = 'data directory'
  try {
    const { mode } = await stat(dataDir)
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK)
    if ((mode & 0o077) !== 0)
      return warning(check, `other users can look into ${dataDir}; chmod 0700`, () => chmod(dataDir, 0o700))
    return ok(check, `${dataDir} can be written, by its owner only`)
  } catch (error) {
    return fault(check, `${messageOf(error)}; set GUILDHALL_DATA_DIR, or run this as the server's user`)
  }
}

async function checkDisk({ dataDir }: Config): Promise<Finding> {
  const found = await statfs(dataDir).catch(() => undefined)
  if (found === undefined) return fault('disk', `the disk of ${dataDir} cannot be looked at`)
  const free = found.bavail * found.bsize
  const text = `${Math.floor(free / MB)} MB are free in ${dataDir}`
  if (free < FULL) return fault('disk', `${text}: writes are answered with 507 until there is room`)
  if (found.files > 0 && found.ffree < 1_000)
    return fault('disk', `${found.ffree} inodes are free in ${dataDir}`)
  return free < NEARLY_FULL ? warning('disk', `${text}: make room soon`) : ok('disk', text)
}

async function checkSecretFile({ secretFile }: Config): Promise<Finding> {
  try {
    const { mode } = await stat(secretFile)
    if (!/^[0-9a-f]{64}$/.test((await readFile(secretFile, 'utf8')).trim()))
      return fault(
        'secret',
        `${secretFile} does not hold 64 hexadecimal digits; put the file of a backup back`,
      )
    if ((mode & 0o077) !== 0)
      return warning('secret', `other users can read ${secretFile}; chmod 0600`, () =>
        chmod(secretFile, 0o600),
      )
    return ok('secret', `${secretFile} is readable by its owner only`)
  } catch (error) {
    return fault('secret', `${messageOf(error)}; put the file of a backup back`)
  }
}
