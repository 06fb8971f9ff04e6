import { once } from 'node:events'
import { spawn } from 'node:child_process'
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type pg from 'pg'
import type { BlobStorage } from '../blobs/storage.ts'
import { repositoryPath } from '../core/places/projects.ts'
import { BACKUP_LOCK } from '../db/backup_lock.ts'
import type { Client } from '../db/client.ts'
import type { Instance } from '../instance.ts'
import { Target, eachOf, filesBelow, type Totals } from './files.ts'
import { BackupFault, findBackup, nameOf, readManifest, writeManifest, type Header } from './manifest.ts'
import { captureRefs, copyRepository, type Captured } from './repositories.ts'
import { dumpTables } from './tables.ts'

export type Step = (phase: string, percent?: number) => void

interface Source {
  readonly client: Client
  readonly instance: Pick<Instance, 'config' | 'git'>
  readonly storage: BlobStorage
}
export interface BackedUp extends Totals {
  readonly folder: string
  readonly projects: number
  readonly blobs: number
}

const PARTIAL = '.partial-'
/** Clocks of files tick more slowly than those of processes. */
const TICK_MS = 2_000
/** Folders of marks, which say what the database has yet to be told of. */
const MARKS = ['moving', 'unheard']

/**
 * Backs everything up below `folder`, while the server runs. What the last backup there holds already is linked to. The
 * backup has its name only once it is whole.
 */
export async function backUp(source: Source, folder: string, step: Step): Promise<BackedUp> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const database = await source.client.connect()
  try {
    const { rows } = await database.query<{ free: boolean }>(
      `select pg_try_advisory_lock(${BACKUP_LOCK}) as free`,
    )
    if (rows[0]?.free !== true) throw new BackupFault('another backup of this server is running')
    for (const name of await readdir(folder))
      if (name.startsWith(PARTIAL)) await rm(join(folder, name), { recursive: true })
    const previous = await findBackup(folder)
    if (previous === folder)
      throw new BackupFault(`${folder} is a backup itself; name the folder that it lies in`)
    const last = previous === undefined ? undefined : { folder: previous, ...(await readManifest(previous)) }
    return await fill(source, database, { folder, last, step })
  } finally {
    await database.end()
  }
}

interface Filling {
  readonly folder: string
  readonly last: ConstructorParameters<typeof Target>[1]
  readonly step: Step
}

async function fill(source: Source, database: pg.Client, { folder, last, step }: Filling): Promise<BackedUp> {
  const { dataDir } = source.instance.config
  const now = new Date()
  const name = nameOf(now)
  const partial = join(folder, PARTIAL + name)
  const target = new Target(partial, last)
  // Before the snapshot: one that is told of meanwhile is in both, and telling again does no harm.
  for (const mark of MARKS)
    for (const path of await filesBelow(join(dataDir, mark)))
      await target.copy(join(dataDir, mark, path), `${mark}/${path}`)
  await database.query('begin isolation level repeatable read read only')
  // Git first and the rows after, as writes go: refs are never older than the rows, and what moved since is marked.
  const projects = await database.query<{ id: number }>('select id::integer from projects order by id')
  step('refs')
  const captured = await captureAll(
    source,
    projects.rows.map(({ id }) => id),
  )
  step('database', 0)
  const tables = await dumpTables(database, target, (percent) => step('database', percent))
  const blobs = await database.query<{ location: string; size: string | null }>(
    'select location, size::text from blobs where sha256 is not null order by location',
  )
  await database.query('commit')
  await eachOf(captured, async (one, i) => {
    await copyRepository(one, target)
    step('repositories', Math.floor((i * 100) / captured.length))
  })
  await eachOf(blobs.rows, async ({ location, size }, i) => {
    const path = `blobs/${location.slice(0, 2)}/${location}`
    if (!(await target.reuse(path, Number(size), 0)))
      await target.write(path, await source.storage.get(location))
    step('files', Math.floor((i * 100) / blobs.rows.length))
  })
  await copyLogs(source, target)
  const header: Header = {
    format: 1,
    created_at: now.toISOString(),
    ...tables,
    moved: captured
      .filter(({ movedAt }) => movedAt > now.getTime() - TICK_MS)
      .map(({ id, movedAt }) => ({ id, at: movedAt })),
    blobs: blobs.rows.map(({ location }) => location),
  }
  await writeManifest(partial, { header, files: target.files })
  step('disk')
  await flush(partial)
  const place = join(folder, name)
  await rename(partial, place)
  await syncFolder(folder)
  return { folder: place, projects: captured.length, blobs: blobs.rows.length, ...target.totals }
}

/** Copies the logs of jobs, as long as they are, and the secret. */
async function copyLogs({ instance: { config } }: Source, target: Target): Promise<void> {
  const traces = join(config.dataDir, 'traces')
  for (const path of await filesBelow(traces)) await target.copy(join(traces, path), `traces/${path}`)
  if (!(await target.copy(config.secretFile, 'secret')))
    throw new BackupFault(`${config.secretFile} is missing`)
}

async function captureAll({ instance }: Source, ids: readonly number[]): Promise<Captured[]> {
  const all: Captured[] = []
  await eachOf(ids, async (id) => {
    const path = repositoryPath(id)
    const one = await captureRefs(id, instance.git.directory(path), path)
    if (one !== undefined) all.push(one)
  })
  return all
}

/** Brings a file system to disk: one call, where a call for each of many files would take minutes. */
export async function flush(folder: string): Promise<void> {
  const child = spawn('sync', ['-f', basename(folder)], { cwd: join(folder, '..'), stdio: 'ignore' })
  const ended = await once(child, 'exit').catch(() => [1])
  if (ended[0] === 0) return
  for (const path of await filesBelow(folder)) await syncFolder(join(folder, path))
}

/** Syncs a folder or a file. */
export async function syncFolder(path: string): Promise<void> {
  if (!(await stat(path)).isDirectory() && !(await stat(path)).isFile()) return
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
