import { readdir, readFile } from 'node:fs/promises'
import type { Client } from './client.ts'
import { sql } from 'kysely'
import { statement, type Slots } from './statement.ts'
import { PACKAGE_ROOT } from '../package_root.ts'

const folder = new URL('src/db/migrations/', PACKAGE_ROOT)
const LOCK = 7_163_019

const applied = statement(
  () => sql<{ version: number }>`select version from schema_migrations order by version`,
)
const record = statement(
  (p: Slots<{ version: number; name: string }>) =>
    sql`insert into schema_migrations (version, name) values (${p.version}, ${p.name})`,
)
const lock = statement(() => sql`select pg_advisory_xact_lock(${sql.lit(LOCK)})`)

/**
 * Brings the database up to this program's schema: plain SQL files in the order of their numbers, each whole or
 * not at all, one server at a time. Returns the names of those applied now. Throws when the database is newer. With
 * `wanted` it applies only those versions, and throws when it has not all of them.
 */
export async function migrate(client: Client, wanted?: ReadonlySet<number>): Promise<string[]> {
  const all = (await readdir(folder)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort()
  const files = all.filter((name) => wanted?.has(versionOf(name)) ?? true)
  if (wanted !== undefined && files.length < wanted.size)
    throw new Error('the backup is of a newer program than this one; upgrade the program')
  return client.transaction(async (tx) => {
    await tx.run(lock, {})
    // Migrations of large databases take longer than any request may.
    await tx.script('set local statement_timeout = 0')
    await tx.script(`create table if not exists schema_migrations (
      version integer primary key, name text not null, applied_at timestamptz not null default now())`)
    const done = new Set((await tx.rows(applied, {})).map((row) => row.version))
    const known = new Set(files.map(versionOf))
    const foreign = [...done].filter((version) => !known.has(version))
    if (foreign.length > 0)
      throw new Error(
        `the database is at migration ${foreign.at(-1)}, newer than this program; upgrade the program`,
      )
    const names: string[] = []
    for (const file of files.filter((name) => !done.has(versionOf(name)))) {
      await tx.script(await readFile(new URL(file, folder), 'utf8'))
      await tx.run(record, { version: versionOf(file), name: file })
      names.push(file)
    }
    return names
  })
}

/** The migrations of this program that are not applied, and versions that are and that it does not know. */
export async function listPending(
  client: Client,
): Promise<{ readonly pending: readonly string[]; readonly foreign: readonly number[] }> {
  const files = (await readdir(folder)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).toSorted()
  const done = (await client.rows(applied, {})).map(({ version }) => version)
  const known = files.map(versionOf)
  return {
    pending: files.filter((name) => !done.includes(versionOf(name))),
    foreign: done.filter((version) => !known.includes(version)),
  }
}

/** Marks a database while a restore fills it. */
export const RESTORE_MARK = 'guildhall_restore'

const isHalfRestored = statement(
  () =>
    sql<{ marked: boolean }>`select to_regclass(${sql.lit(`public.${RESTORE_MARK}`)}) is not null as marked`,
)

/** Throws for a database that a restore was filling when it ended. */
export async function refuseHalfRestored(client: Client): Promise<void> {
  if ((await client.one(isHalfRestored, {}))?.marked === true)
    throw new Error('a restore into this database did not end; run bin/guildhall restore again')
}

const versionOf = (file: string): number => Number(file.slice(0, 4))
