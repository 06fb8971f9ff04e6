import { sql } from 'kysely'
import { statement } from '../db/statement.ts'
import type { Job } from '../jobs/job.ts'

/** Rows of one statement. */
const BATCH = 5_000

const oldDeliveries = statement(
  () => sql`
    delete from web_hook_deliveries where id in (
      select id from web_hook_deliveries where created_at < now() - interval '7 days' and not pending
       limit ${sql.lit(BATCH)})`,
)
// Lists show three years, as published; what they do not show is needed until it is delivered.
const oldEvents = statement(
  () => sql`
    delete from events where id in (
      select e.id from events e
       where e.created_at < now() - interval '7 days' and e.seq is not null
         and (e.activity is null or e.created_at < now() - interval '3 years')
         and not exists (select from web_hook_deliveries d where d.event_id = e.id and d.pending)
       order by e.id limit ${sql.lit(BATCH)})`,
)

/** Deletes deliveries of more than a week ago, and events that nothing shows any more. */
export const pruneEvents: Job<object> = {
  name: 'prune_events',
  hourly: true,
  slow: true,
  run: async ({ db }) => {
    for (const one of [oldDeliveries, oldEvents]) while ((await db.run(one, {})) === BATCH);
  },
}
