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
 * not at all, one server at a time. Returns the names of those applied now. Throws when the database is newer.
 */
export async function migrate(client: Client): Promise<string[]> {
  const files = (await readdir(folder)).filter((name) => /^\d{4}_\w+\.sql$/.test(name)).sort()
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

const versionOf = (file: string): number => Number(file.slice(0, 4))
