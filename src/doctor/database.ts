import type { Vault } from '../access/secrets.ts'
import type { Client } from '../db/client.ts'
import { listPending, migrate } from '../db/migrate.ts'
import { migrateQueue } from '../jobs/queue.ts'
import { fault, messageOf, ok, warning, type Finding } from './finding.ts'

/** The oldest major version that is tried. */
const LEAST = 14
const LATE_SECONDS = 300
const SKEW_SECONDS = 5

type Check = (client: Client) => Promise<Finding>

async function row<Row extends object>(client: Client, text: string): Promise<Row> {
  const { rows } = await client.pool.query<Row>(text)
  const [first] = rows
  if (first === undefined) throw new Error('a check found no row')
  return first
}

const checkVersion: Check = async (client) => {
  const { version, in_recovery } = await row<{ version: number; in_recovery: boolean }>(
    client,
    `select current_setting('server_version_num')::integer / 10000 as version, pg_is_in_recovery() as in_recovery`,
  )
  if (version < LEAST) return fault('version', `PostgreSQL ${version} is older than ${LEAST}; upgrade it`)
  if (in_recovery)
    return fault('version', 'the database only reads: it is a standby; set DATABASE_URL to the primary')
  return ok('version', `PostgreSQL ${version}`)
}

const checkMigrations: Check = async (client) => {
  const { pending, foreign } = await listPending(client)
  if (foreign.length > 0)
    return fault(
      'migrations',
      `the database is at migration ${foreign.at(-1)}, newer than this program; upgrade it`,
    )
  if (pending.length === 0) return ok('migrations', 'the schema is that of this program')
  return warning(
    'migrations',
    `${pending.length} are to be applied; bin/guildhall migrate, or start the server`,
    async () => {
      await migrate(client)
      await migrateQueue(client)
    },
  )
}

const checkJit: Check = async (client) => {
  const { jit, sync } = await row<{ jit: string; sync: string }>(
    client,
    `select current_setting('jit') as jit, current_setting('synchronous_commit') as sync`,
  )
  if (jit === 'off' && sync === 'on') return ok('jit', 'sessions plan without jit and commit to disk')
  return fault(
    'jit',
    `sessions have jit = ${jit}, synchronous_commit = ${sync}: something between drops the options of connections, ` +
      'as poolers do; connect to PostgreSQL itself',
  )
}

const checkClock: Check = async (client) => {
  const before = Date.now()
  const { now, ahead } = await row<{ now: Date; ahead: number }>(
    client,
    `select clock_timestamp() as now,
            (select coalesce(extract(epoch from max(applied_at) - clock_timestamp()), 0)::float from schema_migrations) as ahead`,
  )
  const skew = Math.round((now.getTime() - (before + Date.now()) / 2) / 1000)
  if (Math.abs(skew) > SKEW_SECONDS)
    return fault('clock', `the database's clock differs by ${skew} s from this machine's; run NTP on both`)
  if (ahead > SKEW_SECONDS)
    return fault(
      'clock',
      `the schema was changed ${Math.round(ahead)} s in the future: the clock went back; run NTP`,
    )
  return ok('clock', 'the clocks of this machine and the database agree')
}

const checkConnections: Check = async (client) => {
  const { used, allowed } = await row<{ used: number; allowed: number }>(
    client,
    `select (select count(*)::integer from pg_stat_activity where backend_type = 'client backend') as used,
            current_setting('max_connections')::integer as allowed`,
  )
  const text = `${used} of ${allowed} connections are used`
  return used > allowed * 0.8
    ? warning('connections', `${text}; raise max_connections`)
    : ok('connections', text)
}

const IDLE = `datname = current_database() and state like 'idle in transaction%'
  and state_change < now() - interval '${LATE_SECONDS} seconds' and pid <> pg_backend_pid()`

const checkLocks: Check = async (client) => {
  const { idle, waiting } = await row<{ idle: number; waiting: number }>(
    client,
    `select count(*) filter (where ${IDLE})::integer as idle,
            count(*) filter (where wait_event_type = 'Lock' and state_change < now() - interval '30 seconds'
                                   and datname = current_database())::integer as waiting
       from pg_stat_activity`,
  )
  if (idle > 0)
    return fault(
      'locks',
      `${idle} transactions have been idle for five minutes and may block others; end them`,
      () => client.pool.query(`select pg_terminate_backend(pid) from pg_stat_activity where ${IDLE}`),
    )
  if (waiting > 0) return warning('locks', `${waiting} statements have waited for locks for 30 s`)
  return ok('locks', 'no transaction blocks others')
}

const checkIndexes: Check = async (client) => {
  const { rows } = await client.pool.query<{ name: string }>(
    `select indexrelid::regclass::text as name from pg_index where not indisvalid order by 1`,
  )
  if (rows.length === 0) return ok('indexes', 'all indexes are valid')
  const names = rows.map(({ name }) => name)
  return fault('indexes', `${names.join(', ')} are not used, nor kept unique; reindex`, async () => {
    for (const name of names)
      await client.script(`set statement_timeout = 0; reindex index ${name}; reset statement_timeout`)
  })
}

const checkJobs: Check = async (client) => {
  const { late, dead, seconds, example } = await row<{
    late: number
    dead: number
    seconds: number
    example: string | null
  }>(
    client,
    `select count(*) filter (where attempts < max_attempts and locked_at is null
                                   and run_at < now() - interval '${LATE_SECONDS} seconds')::integer as late,
            count(*) filter (where attempts >= max_attempts and locked_at is null)::integer as dead,
            coalesce(extract(epoch from now() - min(run_at) filter (where attempts < max_attempts)), 0)::integer as seconds,
            max(left(last_error, 200)) filter (where attempts >= max_attempts) as example
       from graphile_worker._private_jobs`,
  )
  if (dead > 0)
    return fault(
      'jobs',
      `${dead} have failed for good, such as: ${example}; mend the cause, then try again`,
      () =>
        client.pool.query(
          `update graphile_worker._private_jobs set attempts = 0, run_at = now()
          where attempts >= max_attempts and locked_at is null`,
        ),
    )
  if (late > 0)
    return fault('jobs', `${late} are due, the oldest for ${seconds} s: does a server or worker run?`)
  return ok('jobs', 'none is late, none has failed for good')
}

const checkOutbox: Check = async (client) => {
  const { waiting, seconds } = await row<{ waiting: number; seconds: number }>(
    client,
    `select count(*)::integer as waiting, coalesce(extract(epoch from now() - min(created_at)), 0)::integer as seconds
       from events where seq is null`,
  )
  if (seconds <= LATE_SECONDS) return ok('outbox', `${waiting} events wait for delivery`)
  return warning(
    'outbox',
    `${waiting} events wait for delivery, the oldest for ${seconds} s: does a server or worker run?`,
  )
}

const CHECKS: Readonly<Record<string, Check>> = {
  version: checkVersion,
  jit: checkJit,
  migrations: checkMigrations,
  clock: checkClock,
  connections: checkConnections,
  locks: checkLocks,
  indexes: checkIndexes,
  jobs: checkJobs,
  outbox: checkOutbox,
}

/** Checks the database. A check that fails is a fault of its own. */
export async function checkDatabase(client: Client): Promise<Finding[]> {
  const all: Finding[] = []
  for (const [name, check] of Object.entries(CHECKS))
    all.push(await check(client).catch((error: unknown) => fault(name, messageOf(error))))
  return all
}

/** Compares the secret file with what the database was sealed with. */
export async function checkSealed(client: Client, vault: Pick<Vault, 'open'>): Promise<Finding> {
  const { rows } = await client.pool.query<{ sealed: Buffer }>('select sealed from secret_check')
  try {
    for (const { sealed } of rows) vault.open(sealed)
    return ok('sealed values', 'the secret opens the values in the database')
  } catch {
    return fault('sealed values', 'the secret is not that of this database; put the file of a backup back')
  }
}
