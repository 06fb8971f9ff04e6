import { sql } from 'kysely'
import { statement, type Slots } from '../../db/statement.ts'
import type { Instance } from '../../instance.ts'
import { insertEvents } from '../../outbox/record.ts'
import { commitJobs } from './commit_references.ts'
import { pipelineJobs } from './pipeline_requests.ts'
import { pushEvents } from './push_events.ts'
import type { UndeliveredPush } from './undelivered_pushes.ts'

interface Told {
  readonly id: string
  readonly names: readonly string[]
  readonly payloads: readonly string[]
  readonly events: string
}
// One statement, so that a push that is told again, after a crash or a fault, is told once.
const tell = statement(
  (p: Slots<Told>) => sql`
    with stale as (
      delete from told_pushes where id in (
        select id from told_pushes where told_at < now() - interval '30 days' limit 100 for update skip locked)),
    first as (insert into told_pushes (id) values (${p.id}) on conflict do nothing returning id),
    recorded as (${insertEvents(p.events, sql`, first`)})
    select graphile_worker.add_job(asked.name, asked.payload::json, max_attempts => 12)
      from first, unnest(${p.names}::text[], ${p.payloads}::text[]) as asked (name, payload)`,
)

/** Records a push, and asks for all that follows from it, once: pipelines, and what its commits say of issues. */
export async function tellOfPush(tools: Pick<Instance, 'db' | 'git'>, push: UndeliveredPush): Promise<void> {
  const { push_id: id, moves } = push
  const jobs = [...(await pipelineJobs(tools, push, moves)), ...(await commitJobs(tools, push, moves))]
  const events = await pushEvents(tools, push)
  if (events.length + jobs.length === 0) return
  const [names, payloads] = [jobs.map(({ name }) => name), jobs.map(({ payload }) => payload)]
  await tools.db.run(tell, { id, names, payloads, events: JSON.stringify(events) })
}
