import { sql } from 'kysely'
import type { Db } from './db.ts'
import { Busy } from './errors.ts'
import { statement } from './statement.ts'

/** The session lock that a backup holds from before its snapshot until its last file is copied. */
export const BACKUP_LOCK = 7_163_030

const holds = statement(
  () => sql<{ held: boolean }>`
    select exists (
      select from pg_locks
       where locktype = 'advisory' and classid = 0 and objid::bigint = ${sql.lit(BACKUP_LOCK)} and objsubid = 1 and granted
         and database = (select oid from pg_database where datname = current_database())) as held`,
)

/** Throws Busy while a backup runs: files that rows of its snapshot name are not removed. The job is retried later. */
export async function refuseDuringBackup(db: Db): Promise<void> {
  if ((await db.one(holds, {}))?.held === true) throw new Busy('a backup is running')
}
