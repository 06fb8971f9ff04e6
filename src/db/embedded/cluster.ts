import {
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { asAccount, enter, type Account } from './account.ts'
import { copiesIn, type Binaries } from './binaries.ts'
import { stopSurvivors } from './leftovers.ts'
import type { ServerLog } from './log.ts'
import { run, supervise, type Command, type Ids } from './process.ts'

/** Context of every step on a cluster. */
export interface Setting {
  readonly dataDir: string
  readonly cluster: string
  readonly account: Account
  readonly binaries: Binaries
  readonly serverLog: ServerLog
  /** The most connections at a time. */
  readonly connections: number
  readonly log: (line: string) => void
}

/** The database and the role that own everything of Guildhall in its cluster. */
export const databaseName = 'guildhall'
export const userName = 'guildhall'

const initLimit = 120_000
const newPrefix = '.new-'

function hasVersion(cluster: string): boolean {
  return existsSync(join(cluster, 'PG_VERSION'))
}

function localeAttempts(major: number): string[][] {
  const plain = ['--encoding=UTF8']
  // The builtin provider sorts alike on every system; the libc locale only classifies letters for full-text search.
  const builtin = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', ...plain]
  const provider = major >= 17 ? builtin : plain
  return [
    [...provider, '--locale=C.UTF-8'],
    [...provider, '--locale=C'],
  ]
}

async function initialise(directory: string, locale: readonly string[], setting: Setting): Promise<boolean> {
  const { account, binaries, serverLog } = setting
  const options = [
    '-U',
    userName,
    '--auth-local=trust',
    '--auth-host=reject',
    '--no-sync',
    '--no-instructions',
  ]
  const initdb = enter(directory, account, ({ argument, ...way }) => {
    const command: Command = [binaries.initdb, '-D', argument, ...options, ...locale]
    const named = asAccount(account, command, account.initPrefix)
    return supervise(named, { ids: account.ids, output: serverLog.fd, ...way })
  })
  const timer = setTimeout(() => initdb.signal('SIGKILL'), initLimit)
  const { code } = await initdb.ended
  clearTimeout(timer)
  return code === 0
}

type Step = (directory: string) => { readonly command: Command; readonly input?: string }

async function take(step: Step, directory: string, { account }: Setting): Promise<void> {
  const { code, output, failure } = await enter(directory, account, ({ argument, ...way }) => {
    const { command, ...input } = step(argument)
    // Single-user mode, like initdb, looks up the name of its uid.
    const named = asAccount(account, command, account.initPrefix)
    return run(named, { ids: account.ids, limit: initLimit, ...way, ...input })
  })
  if (code === 0 && !/\b(ERROR|FATAL|PANIC):/.test(output)) return
  throw new Error(`The embedded database could not be created: ${failure?.message ?? output.trim()}`)
}

function syncDirectory(directory: string): void {
  const fd = openSync(directory, 'r')
  fsyncSync(fd)
  closeSync(fd)
}

function give(path: string, { uid, gid }: Ids): void {
  try {
    // Never through a symbolic link: the account could have placed one to a file of root.
    lchownSync(path, uid, gid)
  } catch (cause) {
    throw new Error(
      `${path} could not be given to user id ${uid}, which runs the database because PostgreSQL refuses root. ` +
        'Run Guildhall as an ordinary user, give it the capability CHOWN, set GUILDHALL_DATA_DIR to a directory ' +
        'whose owner may be changed, or set DATABASE_URL to a PostgreSQL server of your own.',
      { cause },
    )
  }
}

function emptyForInit(directory: string, ids: Ids | undefined): void {
  for (const entry of readdirSync(directory)) rmSync(join(directory, entry), { recursive: true, force: true })
  if (ids) give(directory, ids)
}

function initFailure({ account, serverLog }: Setting): Error {
  const said = serverLog.tail()
  const nameless = said.includes('could not look up effective user ID') || account.initPrefix[0] === 'unshare'
  const hint = nameless
    ? 'PostgreSQL cannot create a database as a user id that has no name. Add the user id to /etc/passwd, ' +
      'run Guildhall as a user that is listed there, allow user namespaces (unshare), or set DATABASE_URL to a ' +
      'PostgreSQL server of your own.'
    : 'Fix the cause, or set DATABASE_URL to a PostgreSQL server of your own.'
  return new Error(
    `The embedded database could not be created by ${account.description}. ${hint} initdb said:\n${said}`,
  )
}

/** Built beside and renamed when whole and on disk: a crash leaves either no cluster or a complete one. */
async function create(setting: Setting): Promise<void> {
  const { account, binaries, cluster, dataDir } = setting
  const making = mkdtempSync(join(dataDir, `${basename(cluster)}${newPrefix}`))
  try {
    let done = false
    for (const locale of localeAttempts(binaries.major)) {
      emptyForInit(making, account.ids)
      done = await initialise(making, locale, setting)
      if (done) break
    }
    if (!done) throw initFailure(setting)
    const createDatabase: Step = (directory) => ({
      command: [binaries.postgres, '--single', '-F', '-D', directory, 'template1'],
      input: `CREATE DATABASE ${databaseName}\n`,
    })
    const sync: Step = (directory) => ({ command: [binaries.initdb, '--sync-only', '-D', directory] })
    await take(createDatabase, making, setting)
    await take(sync, making, setting)
    renameSync(making, cluster)
    syncDirectory(dirname(cluster))
  } catch (error) {
    rmSync(making, { recursive: true, force: true })
    throw error
  }
}

async function removeUnfinished({ cluster, dataDir, log }: Setting): Promise<void> {
  const prefix = `${basename(cluster)}${newPrefix}`
  for (const entry of readdirSync(dataDir)) {
    if (!entry.startsWith(prefix)) continue
    const unfinished = join(dataDir, entry)
    await stopSurvivors(unfinished, log)
    rmSync(unfinished, { recursive: true, force: true, maxRetries: 5 })
    log('removed a database whose creation was interrupted')
  }
}

function giveAll(directory: string, ids: Ids): void {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) giveAll(path, ids)
    else give(path, ids)
  }
  // Last, so that an interrupted walk is taken up again.
  give(directory, ids)
}

function otherVersion({ binaries, cluster, dataDir }: Setting, found: string): Error {
  const copies = copiesIn(dataDir)
  const kept = existsSync(copies)
    ? readdirSync(copies).find((name) => name.startsWith(`${found}.`))
    : undefined
  const old =
    kept === undefined
      ? `the folder of a PostgreSQL ${found} with initdb and postgres`
      : join(copies, kept, 'bin')
  const connect = `-h ${cluster} -U ${userName}`
  return new Error(
    [
      `The database in ${cluster} was made by PostgreSQL ${found}, but the server to start is ${binaries.version}, ` +
        'which cannot open files of another major version. Nothing was changed.',
      `To stay with version ${found}: set PG_BIN_DIR to ${old}.`,
      `To move to version ${binaries.major}:`,
      `  1. start Guildhall with that PG_BIN_DIR and run: pg_dump ${connect} -Fc -f guildhall.dump ${databaseName}`,
      `  2. stop Guildhall, rename ${cluster} to ${cluster}.${found}, and start Guildhall without that PG_BIN_DIR`,
      `  3. run: pg_restore ${connect} --clean --if-exists -d ${databaseName} guildhall.dump, and restart Guildhall`,
      'Or load that dump into a PostgreSQL server of your own and set DATABASE_URL.',
    ].join('\n'),
  )
}

/**
 * Makes the cluster ready to be started: creates it with its database on the first start, and checks version
 * and owner later. Throws when it was made by another major version or cannot be created.
 */
export async function prepareCluster(setting: Setting): Promise<void> {
  const { account, binaries, cluster, log } = setting
  await removeUnfinished(setting)
  if (!hasVersion(cluster)) {
    if (existsSync(cluster) && readdirSync(cluster).length > 0) {
      throw new Error(
        `${cluster} holds files but no database (no PG_VERSION). Move it away, then start again.`,
      )
    }
    log(`creating the database (PostgreSQL ${binaries.version})`)
    await create(setting)
  }
  const found = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()
  if (Number.parseInt(found, 10) !== binaries.major) throw otherVersion(setting, found)
  if (account.ids && statSync(cluster).uid === 0) giveAll(cluster, account.ids)
}
