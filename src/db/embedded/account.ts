import { closeSync, constants, openSync, readFileSync, statSync } from 'node:fs'
import { userInfo } from 'node:os'
import { run, type Command, type Ids } from './process.ts'

/** The account of the database server. */
export interface Account {
  /** Set when we are root and become somebody else for the server. */
  readonly ids: Ids | undefined
  /** Put before a command of the server: a user namespace, where becoming somebody else is forbidden. */
  readonly prefix: readonly string[]
  /** Put before initdb, which also insists on a uid that has a name. */
  readonly initPrefix: readonly string[]
  /** Whether the account can walk to the data directory by its path. */
  readonly reachesDataDir: boolean
  readonly description: string
}

const nobody: Ids = { uid: 65_534, gid: 65_534 }

interface Person extends Ids {
  readonly name: string
}

function people(): Person[] {
  let text: string
  try {
    text = readFileSync('/etc/passwd', 'utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':')
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : []
  })
}

function owner(directory: string): Ids | undefined {
  return statSync(directory, { throwIfNoEntry: false })
}

function inNamespaceAs({ uid, gid }: Ids): readonly string[] {
  return ['unshare', '--user', `--map-user=${uid}`, `--map-group=${gid}`, '--']
}

function someoneNamed(): Ids {
  const named = people().filter(({ uid }) => uid !== 0)
  return named.find(({ uid }) => uid === nobody.uid) ?? named[0] ?? nobody
}

async function works(prefix: readonly string[], ids?: Ids): Promise<boolean> {
  const [file, ...args] = [...prefix, 'true']
  const { code } = await run([file ?? 'true', ...args], { ids })
  return code === 0
}

function hasName(uid: number): boolean {
  if (uid !== process.getuid?.()) return people().some((person) => person.uid === uid)
  try {
    return userInfo().username !== ''
  } catch {
    return false
  }
}

async function ordinaryAccount(uid: number, cluster: string): Promise<Account> {
  const belongsTo = owner(cluster)?.uid ?? uid
  if (belongsTo !== uid) {
    throw new Error(
      `The database in ${cluster} belongs to user id ${belongsTo}, but Guildhall runs as user id ${uid}. ` +
        `Run it as that user or as root, or give the directory to user id ${uid} (chown -R).`,
    )
  }
  const initPrefix = hasName(uid) ? [] : inNamespaceAs(someoneNamed())
  return { ids: undefined, prefix: [], initPrefix, reachesDataDir: true, description: `user id ${uid}` }
}

function unreachable(dataDir: string, uid: number): Error {
  return new Error(
    `PostgreSQL refuses to run as root, and user id ${uid}, which runs it, cannot reach ${dataDir}. ` +
      'Set GUILDHALL_DATA_DIR to a directory outside of a private home, run Guildhall as an ordinary user, ' +
      'or set DATABASE_URL to a PostgreSQL server of your own.',
  )
}

/** PostgreSQL refuses root; a cluster keeps the owner it has, so that a changed passwd file changes nothing. */
async function accountForRoot(dataDir: string, cluster: string): Promise<Account> {
  const all = people()
  const found = all.find(({ name }) => name === 'postgres') ?? all.find(({ name }) => name === 'guildhall')
  const holder = owner(cluster)
  const { uid, gid } = holder && holder.uid !== 0 ? holder : (found ?? nobody)
  const ids = { uid, gid }
  const walk: Command = ['/bin/sh', '-c', 'cd -- "$1"', 'sh', dataDir]
  const walked = await run(walk, { ids })
  if (walked.failure === undefined) {
    const initPrefix = hasName(uid) ? [] : inNamespaceAs(someoneNamed())
    const description = `user id ${uid}`
    const reachesDataDir = walked.code === 0
    if (!reachesDataDir && process.platform !== 'linux') throw unreachable(dataDir, uid)
    return { ids, prefix: [], initPrefix, reachesDataDir, description }
  }
  const prefix = inNamespaceAs(someoneNamed())
  const mayStay = holder === undefined || holder.uid === 0
  if (mayStay && (await works(prefix))) {
    const description = 'root in a user namespace'
    return { ids: undefined, prefix, initPrefix: prefix, reachesDataDir: true, description }
  }
  throw new Error(
    `PostgreSQL refuses to run as root, and this process may not start it as user id ${uid} ` +
      `(${walked.failure.code ?? walked.failure.message}). Run Guildhall as an ordinary user, ` +
      'give it the capabilities SETUID, SETGID and CHOWN, or set DATABASE_URL to a PostgreSQL server of your own.',
  )
}

/**
 * Chooses who runs the server for the cluster directory in `dataDir`: ourselves, or when we are root another
 * user. Throws, naming what to change, when no permitted user exists.
 */
export async function chooseAccount(dataDir: string, cluster: string): Promise<Account> {
  const uid = process.getuid?.()
  if (uid === undefined) {
    throw new Error(
      'The embedded database needs a Unix-like system. Set DATABASE_URL to a PostgreSQL server of your own.',
    )
  }
  return uid === 0 ? accountForRoot(dataDir, cluster) : ordinaryAccount(uid, cluster)
}

/** The command as the account runs it; start it with the account's `ids`. */
export function asAccount(account: Account, command: Command, prefix = account.prefix): Command {
  const [file, ...args] = [...prefix, ...command]
  return [file ?? command[0], ...args]
}

/** How a command is shown the way into a directory. */
export interface Way {
  readonly argument: string
  readonly cwd: string
  readonly fd?: number
}

/**
 * Starts a command on a directory in the data directory; `begin` must start it before it returns. A directory
 * that the account cannot walk to is handed over open, so that root may keep data below a private home (0700).
 */
export function enter<T>(directory: string, account: Account, begin: (way: Way) => T): T {
  if (account.reachesDataDir) return begin({ argument: directory, cwd: directory })
  const fd = openSync(directory, constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    return begin({ argument: '/proc/self/fd/3', cwd: '/', fd })
  } finally {
    closeSync(fd)
  }
}
