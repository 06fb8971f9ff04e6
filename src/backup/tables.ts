import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type pg from 'pg'
import { from, to } from 'pg-copy-streams'
import { BackupFault, type BackedUpTable, type Header } from './manifest.ts'
import type { Target } from './files.ts'

/** The tables of the queue that hold jobs; the others are its own. */
const QUEUE = ['_private_job_queues', '_private_jobs', '_private_known_crontabs', '_private_tasks']

const TABLES = `
  select format('%I.%I', n.nspname, c.relname) as name, c.relname as plain,
         array(select quote_ident(a.attname) from pg_attribute a
                where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
                order by a.attnum) as columns
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
   where c.relkind = 'r' and (n.nspname = 'public' or (n.nspname = 'graphile_worker' and c.relname = any($1)))
   order by 1`
const PARTITIONS = `
  select format('create table if not exists %s partition of %s %s', i.inhrelid::regclass, i.inhparent::regclass,
                pg_get_expr(c.relpartbound, c.oid)) as text
    from pg_inherits i join pg_class c on c.oid = i.inhrelid
   where c.relispartition and c.relkind = 'r' and c.relnamespace = 'public'::regnamespace order by 1`
const SEQUENCES = `
  select format('%I.%I', schemaname, sequencename) as name, last_value::text as value
    from pg_sequences where last_value is not null and schemaname in ('public', 'graphile_worker')`

type Dumped = Pick<Header, 'migrations' | 'tables' | 'partitions' | 'sequences'>

/** Copies all rows that the transaction of `client` sees. */
export async function dumpTables(
  client: pg.Client,
  target: Target,
  step: (percent: number) => void,
): Promise<Dumped> {
  const found = await client.query<{ name: string; plain: string; columns: string[] }>(TABLES, [QUEUE])
  const tables: BackedUpTable[] = []
  for (const [i, { name, plain, columns }] of found.rows.entries()) {
    const file = `database/${plain}`
    const copying = client.query(to(`copy ${name} (${columns.join(', ')}) to stdout`))
    await target.write(file, copying as AsyncIterable<Buffer>)
    tables.push({ name, columns, file, rows: copying.rowCount ?? 0 })
    step(Math.floor(((i + 1) * 100) / found.rows.length))
  }
  const migrations = await client.query<{ version: number }>(
    'select version from schema_migrations order by 1',
  )
  const partitions = await client.query<{ text: string }>(PARTITIONS)
  const sequences = await client.query<{ name: string; value: string }>(SEQUENCES)
  return {
    tables,
    migrations: migrations.rows.map(({ version }) => version),
    partitions: partitions.rows.map(({ text }) => text),
    sequences: Object.fromEntries(sequences.rows.map(({ name, value }) => [name, value])),
  }
}

const FOREIGN_KEYS = `
  select conrelid::regclass::text as "table", quote_ident(conname) as name, pg_get_constraintdef(oid) as definition
    from pg_constraint
   where contype = 'f' and conparentid = 0 and connamespace in ('public'::regnamespace, 'graphile_worker'::regnamespace)`

/**
 * Loads the rows into a database that has the schema, in one transaction. Foreign keys are dropped and made again, which
 * checks them and, unlike switching them off, needs no superuser.
 */
export async function loadTables(
  client: pg.Client,
  folder: string,
  header: Header,
  step: (percent: number) => void,
): Promise<void> {
  const { rows: keys } = await client.query<{ table: string; name: string; definition: string }>(FOREIGN_KEYS)
  for (const { table, name } of keys) await client.query(`alter table ${table} drop constraint ${name}`)
  for (const partition of header.partitions) await client.query(partition)
  const names = header.tables.map(({ name }) => name)
  await client.query(`truncate ${names.join(', ')}`)
  for (const [i, { name, columns, rows, file }] of header.tables.entries()) {
    await client.query(`alter table ${name} disable trigger user`)
    const loading = client.query(from(`copy ${name} (${columns.join(', ')}) from stdin`))
    await pipeline(createReadStream(join(folder, file)), loading)
    if (loading.rowCount !== rows)
      throw new BackupFault(`${file} holds ${loading.rowCount} rows and should hold ${rows}`)
    await client.query(`alter table ${name} enable trigger user`)
    step(Math.floor(((i + 1) * 100) / header.tables.length))
  }
  for (const [name, value] of Object.entries(header.sequences))
    await client.query('select setval($1::regclass, $2::bigint)', [name, value])
  for (const { table, name, definition } of keys)
    await client.query(`alter table ${table} add constraint ${name} ${definition}`)
  // Workers of the other server run nothing here.
  await client.query('update graphile_worker._private_jobs set locked_by = null, locked_at = null')
  await client.query('update graphile_worker._private_job_queues set locked_by = null, locked_at = null')
}
