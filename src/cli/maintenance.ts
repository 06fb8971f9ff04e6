import { resolve } from 'node:path'
import type { Command } from 'commander'
import { sql } from 'kysely'
import { backUp } from '../backup/backup.ts'
import { BackupFault, findBackup } from '../backup/manifest.ts'
import { restore } from '../backup/restore.ts'
import { verifyBackup } from '../backup/verify.ts'
import { statement } from '../db/statement.ts'
import { openStorage } from '../open.ts'
import { Refusal, act, command, withInstance } from './command.ts'

const under = 'Server'

/** Bytes for people. */
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`

/** A fault of a backup as a refusal: one line, without a stack. */
const worded = <Result>(work: Promise<Result>): Promise<Result> =>
  work.catch((error: unknown) => {
    throw error instanceof BackupFault ? new Refusal(error.message) : error
  })

async function found(folder: string): Promise<string> {
  const backup = await findBackup(resolve(folder))
  if (backup === undefined) throw new Refusal(`there is no backup in ${resolve(folder)}`)
  return backup
}

export function addBackups(program: Command): void {
  command({ parent: program, name: 'backup', description: 'back everything up while the server runs', under })
    .argument('<folder>', 'where backups are kept; each has a folder of its own')
    .action(runBackup)
  command({ parent: program, name: 'verify', description: 'compare a backup with its digests', under })
    .argument('<folder>', 'a backup, or the folder of backups for the newest')
    .action(runVerify)
  const description = 'restore a backup to an empty data directory, and an empty database'
  command({ parent: program, name: 'restore', description, under })
    .argument('<folder>', 'a backup, or the folder of backups for the newest')
    .action(runRestore)
}

const runBackup = (folder: string, options: object): Promise<void> =>
  withInstance({ ...options }, async ({ client, instance }, { progress, say }) => {
    const storage = await openStorage(instance.config)
    const made = await worded(backUp({ client, instance, storage }, resolve(folder), progress.step))
    progress.end()
    const bytes = `${megabytes(made.copied)} copied, ${megabytes(made.linked)} as in the last one`
    say(made, `The backup is ${made.folder}: ${made.files} files, ${bytes}.`)
  })

const runVerify = (folder: string, options: object): Promise<void> =>
  act({ ...options }, 'warn', async ({ progress, say }) => {
    const backup = await found(folder)
    const verified = await worded(verifyBackup(backup, progress.step))
    progress.end()
    const { files, bytes, faults } = verified
    const lines =
      faults.length === 0
        ? [`${backup} is whole: ${files} files, ${megabytes(bytes)}.`]
        : [`${backup} is damaged:`, ...faults.map((fault) => `  ${fault}`)]
    say({ backup, ...verified }, lines.join('\n'))
    if (faults.length > 0) process.exitCode = 1
  })

const runRestore = (folder: string, options: object): Promise<void> =>
  act({ ...options }, 'warn', async ({ config, log, progress, say }) => {
    const backup = await found(folder)
    const inform = (line: string): void => log.info({ from: 'database' }, line)
    const restoring = { config, openStorage, step: progress.step, log: inform }
    const { created_at } = await worded(restore(backup, restoring))
    progress.end()
    const { dataDir } = config
    say({ backup, created_at, data_dir: dataDir }, `${dataDir} is as it was at ${created_at}.`)
  })

const newest = statement(
  () => sql<{ version: number }>`select max(version) as version from schema_migrations`,
)

export function addMigrate(program: Command): void {
  command({
    parent: program,
    name: 'migrate',
    description: 'bring the database up to date and say where it is; serve does so too',
    under: 'Server',
  }).action((options: object) =>
    // Opening the instance migrates; what is left is to tell.
    withInstance(
      { ...options },
      async ({ instance }, { say }) => {
        const row = await instance.db.one(newest, {})
        say({ version: row?.version ?? 0 }, `The database is at migration ${row?.version ?? 0}.`)
      },
      { makes: true },
    ),
  )
}
