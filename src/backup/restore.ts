import { copyFile, mkdir, readFile, readdir, rename, rm, rmdir, utimes, writeFile } from 'node:fs/promises'
import { createReadStream } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import type { BlobStorage } from '../blobs/storage.ts'
import type { Config } from '../config.ts'
import type { Client } from '../db/client.ts'
import { openDatabase } from '../db/database.ts'
import { RESTORE_MARK, migrate } from '../db/migrate.ts'
import { migrateQueue } from '../jobs/queue.ts'
import { flush, syncFolder, type Step } from './backup.ts'
import { eachOf } from './files.ts'
import { BackupFault, readManifest, type Manifest } from './manifest.ts'
import { loadTables } from './tables.ts'
import { verifyBackup } from './verify.ts'

interface Restoring {
  readonly config: Config
  /** The storage of the configuration, with its blobs below another data directory. */
  readonly openStorage: (config: Config) => Promise<BlobStorage>
  readonly step: Step
  readonly log: (line: string) => void
}

/**
 * Restores a backup to a data directory, and a database, that are empty. All is built beside the data directory, which has
 * its name only once it is whole. Throws BackupFault where something is there already, or the backup is damaged.
 */
export async function restore(backup: string, restoring: Restoring): Promise<Manifest['header']> {
  const { config, step } = restoring
  const { dataDir } = config
  const there = await readdir(dataDir).catch(() => undefined)
  if (there !== undefined && there.length > 0) throw new BackupFault(`${dataDir} is not empty`)
  const { faults } = await verifyBackup(backup, step)
  if (faults.length > 0) throw new BackupFault(`the backup is damaged: ${faults.slice(0, 3).join(', ')}`)
  const manifest = await readManifest(backup)
  const stage = `${dataDir}.restoring`
  await rm(stage, { recursive: true, force: true })
  await mkdir(stage, { recursive: true, mode: 0o700 })
  await restoreFiles(backup, manifest, stage, restoring)
  const database = await openDatabase({ ...config, dataDir: stage }, { log: restoring.log })
  try {
    await restoreDatabase(database.client, backup, manifest, restoring)
  } finally {
    await database.close()
  }
  step('disk')
  await flush(stage)
  if (there !== undefined) await rmdir(dataDir)
  await rename(stage, dataDir)
  await syncFolder(dirname(dataDir))
  if (config.databaseUrl !== undefined) await removeMark(config, restoring.log)
  return manifest.header
}

async function restoreFiles(
  backup: string,
  { header, files }: Manifest,
  stage: string,
  { config, openStorage, step }: Restoring,
): Promise<void> {
  await restoreSecret(backup, stage, config)
  const blobs = new Set(header.blobs.map((location) => `blobs/${location.slice(0, 2)}/${location}`))
  const copied = files.filter(
    ({ path }) => !path.startsWith('database/') && path !== 'secret' && !blobs.has(path),
  )
  await eachOf(copied, async ({ path, mtime }, i) => {
    await mkdir(dirname(join(stage, path)), { recursive: true, mode: 0o700 })
    await copyFile(join(backup, path), join(stage, path))
    // The time of a mark says since when rows may not agree with refs.
    if (path.startsWith('moving/')) await utimes(join(stage, path), mtime / 1_000, mtime / 1_000)
    // Folders that git wants, though nothing is in them.
    if (/^repositories\/.*\.git\/HEAD$/.test(path))
      for (const folder of ['refs/heads', 'refs/tags', 'objects/info', 'objects/pack'])
        await mkdir(join(stage, dirname(path), folder), { recursive: true, mode: 0o700 })
    step('repositories', Math.floor((i * 100) / copied.length))
  })
  const storage = await openStorage({ ...config, dataDir: stage })
  await eachOf(header.blobs, async (location, i) => {
    // A restore that was killed may have brought it to a bucket already.
    await storage.remove(location)
    await storage.put(location, createReadStream(join(backup, `blobs/${location.slice(0, 2)}/${location}`)))
    step('files', Math.floor((i * 100) / header.blobs.length))
  })
  // The server reconciles the rows of marked projects with their refs before it serves.
  const marks = join(stage, 'moving')
  await mkdir(marks, { recursive: true, mode: 0o700 })
  for (const { id, at } of header.moved) {
    const mark = join(marks, `${id}.any.restored.1`)
    await writeFile(mark, '', { mode: 0o600 })
    await utimes(mark, at / 1_000, at / 1_000)
  }
}

async function restoreSecret(backup: string, stage: string, { dataDir, secretFile }: Config): Promise<void> {
  const below = relative(dataDir, secretFile)
  const secret = await readFile(join(backup, 'secret'))
  if (!below.startsWith('..')) return writeFile(join(stage, below), secret, { mode: 0o600 })
  const known = await readFile(secretFile).catch(() => undefined)
  if (known === undefined) return writeFile(secretFile, secret, { mode: 0o600, flag: 'wx' })
  if (!known.equals(secret))
    throw new BackupFault(`GUILDHALL_SECRET_FILE: ${secretFile} is another secret than that of the backup`)
}

async function restoreDatabase(
  client: Client,
  backup: string,
  { header }: Manifest,
  { config, step }: Restoring,
): Promise<void> {
  if (config.databaseUrl !== undefined) await claimDatabase(client)
  step('schema')
  await migrate(client, new Set(header.migrations))
  await migrateQueue(client)
  const connection = await client.connect()
  try {
    await connection.query('begin')
    await loadTables(connection, backup, header, (percent) => step('database', percent))
    await connection.query('commit')
    await connection.query('analyze')
  } finally {
    await connection.end()
  }
}

/** Marks an empty database; one that a killed restore has marked is emptied first. */
async function claimDatabase(client: Client): Promise<void> {
  const tables = (
    await client.pool.query<{ name: string }>(
      `select relname as name from pg_class
        where relkind in ('r', 'p', 'v') and relnamespace = 'public'::regnamespace`,
    )
  ).rows.map(({ name }) => name)
  if (tables.length > 0 && !tables.includes(RESTORE_MARK))
    throw new BackupFault('the database in DATABASE_URL is not empty')
  if (tables.length > 0)
    await client.script(
      `drop schema public cascade; drop schema if exists graphile_worker cascade; create schema public`,
    )
  await client.script(`create table ${RESTORE_MARK} (started_at timestamptz not null default now())`)
}

async function removeMark(config: Config, log: (line: string) => void): Promise<void> {
  const database = await openDatabase(config, { log })
  try {
    await database.client.script(`drop table if exists ${RESTORE_MARK}`)
  } finally {
    await database.close()
  }
}
