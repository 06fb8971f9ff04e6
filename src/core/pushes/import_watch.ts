import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { enqueueAll } from '../../jobs/job.ts'
import { importRepository } from './import_job.ts'

// Imports that no job stands for any more: one that failed for good, or whose job was lost.

/** Milliseconds between two rounds. */
const ROUND = 20_000

const orphans = statement(
  () => sql<{ project_id: number }>`
    select i.project_id from project_imports i
     where i.status in ('scheduled', 'started')
       and not exists (select from graphile_worker.jobs j where j.key = 'fill_repository ' || i.project_id)
     order by i.project_id limit 1000`,
)

const giveUp = statement(
  (p: Slots<{ error: string }>) => sql`
    update project_imports i set status = 'failed', error = ${p.error}, source = null, updated_at = now()
      from graphile_worker.jobs j
     where i.status in ('scheduled', 'started') and j.key = 'fill_repository ' || i.project_id
       and j.locked_at is null and j.attempts >= j.max_attempts`,
)

/** Asks again for the imports without a job, and ends those that failed for good; how many it asked for. */
export async function resumeImports(db: Db): Promise<number> {
  await db.run(giveUp, { error: 'The repository could not be copied' })
  const rows = await db.rows(orphans, {})
  await enqueueAll(
    db,
    importRepository,
    rows.map((payload) => ({ payload, key: `fill_repository ${payload.project_id}` })),
  )
  return rows.length
}

/** Does a round now and then until it is stopped by calling what it returns. Never throws. */
export function watchImports(db: Db, say: (detail: object, text: string) => void): () => void {
  const round = async (): Promise<void> => {
    try {
      const resumed = await resumeImports(db)
      if (resumed > 0) say({ resumed }, 'imports without a job are asked for again')
    } catch (error) {
      say({ err: error }, 'imports could not be looked through')
    }
  }
  void round()
  const clock = setInterval(() => void round(), ROUND)
  clock.unref()
  return () => clearInterval(clock)
}
