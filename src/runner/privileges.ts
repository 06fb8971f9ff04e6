import { spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync } from 'node:fs'
import { join } from 'node:path'

/** A user of this machine. */
interface Account {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

function accountOf(name: string): Account | undefined {
  try {
    for (const line of readFileSync('/etc/passwd', 'utf8').split('\n')) {
      const [login, , uid, gid] = line.split(':')
      if (login === name) return { name, uid: Number(uid), gid: Number(gid) }
    }
  } catch {
    // Users may come from a directory service.
  }
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, '--', name], { encoding: 'utf8' }))
  if (uid?.status !== 0 || gid?.status !== 0) return undefined
  return { name, uid: Number(uid.stdout), gid: Number(gid.stdout) }
}

/**
 * Makes the directory of builds and, where root runs this, goes on as another user for good: jobs are programs of strangers.
 * Throws what a person is to be told.
 */
export function dropPrivileges(builds: string, user: string | undefined): void {
  becomeUnprivileged(builds, user)
  try {
    rmdirSync(mkdtempSync(join(builds, 'probe-')))
  } catch (error) {
    throw new Error(`jobs cannot write into ${builds}: name another place with --builds-dir`, {
      cause: error,
    })
  }
}

function becomeUnprivileged(builds: string, user: string | undefined): void {
  const isRoot = process.getuid?.() === 0
  if (!isRoot && user !== undefined)
    throw new Error('only root can run jobs as another user: leave --user out')
  mkdirSync(builds, { recursive: true, mode: 0o700 })
  if (!isRoot) return
  const account = accountOf(user ?? 'nobody')
  if (account === undefined) throw new Error(`there is no user ${user ?? 'nobody'}: name one with --user`)
  if (account.uid === 0) throw new Error('jobs do not run as root: name another user with --user')
  chownSync(builds, account.uid, account.gid)
  process.setgroups?.([account.gid])
  process.setgid?.(account.gid)
  process.setuid?.(account.uid)
  if (process.getuid?.() !== account.uid) throw new Error(`this process cannot become ${account.name}`)
}
