import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { JobStatus } from '../../db/schema/ci.ts'
import { statement, type Slots } from '../../db/statement.ts'
import type { Deployment } from '../../db/schema/delivery.ts'
import { recordEvents } from '../../outbox/record.ts'
import { enqueue } from '../../jobs/job.ts'
import { linkMergeRequests } from './deployment_links.ts'

// Deployments and environments follow their jobs, in the transaction that changes the job.

/** The status of a job's deployment, of the job `j`. */
export const statusOfJob: RawBuilder<string> = sql`
  case when j.status in ('success', 'failed', 'canceled', 'skipped') then j.status
       when j.status in ('running', 'canceling') then 'running'
       when j.status = 'manual' then 'blocked'
       else 'created' end`

type Ids = Slots<{ ids: readonly number[] }>

// One number is drawn for each new deployment, all of them at once.
const insert = statement(
  (p: Ids) => sql`
    with fresh as (
      select j.id, j.project_id, j.environment_id, j.user_id, l.ref, l.tag, l.sha, s.environment->>'url' as external_url,
             row_number() over (order by j.id) as position, count(*) over () as total
        from ci_jobs j join ci_job_specs s on s.id = j.spec_id join pipelines l on l.id = j.pipeline_id
       where j.id = any(${p.ids}::bigint[]) and j.environment_id is not null and s.environment->>'action' = 'start'
         and not exists (select from deployments d where d.job_id = j.id)),
    drawn as (
      insert into project_counters (project_id, counts, last)
      select project_id, 'deployments', total from fresh limit 1
      on conflict (project_id, counts) do update set last = project_counters.last + excluded.last returning last)
    insert into deployments (iid, project_id, environment_id, job_id, user_id, ref, tag, sha, external_url, status)
    select drawn.last - total + position, project_id, environment_id, id, user_id, ref, tag, sha, external_url, 'created'
      from fresh, drawn`,
)

type Followed = Pick<Deployment, 'id' | 'project_id' | 'status' | 'user_id'>
const follow = statement(
  (p: Ids) => sql<Followed>`
    update deployments d set
           status = ${statusOfJob}, user_id = j.user_id, updated_at = clock_timestamp(),
           finished_at = case when j.status in ('success', 'failed', 'canceled', 'skipped') then clock_timestamp() end
      from ci_jobs j where j.id = any(${p.ids}::bigint[]) and d.job_id = j.id
    returning d.id, d.project_id, d.status, d.user_id`,
)

// Values that a successful deployment sets for good. Its address may be one that no environment can have.
const succeed = statement(
  (p: Ids) => sql`
    update environments e set
           state = case s.environment->>'action' when 'start' then 'available' when 'stop' then 'stopped' else e.state end,
           external_url = case when length(d.external_url) between 1 and 255
                                and d.external_url !~* '^\\s*(data|javascript|vbscript):'
                               then d.external_url else e.external_url end,
           tier = case when s.environment->>'action' = 'start' then coalesce(s.environment->>'tier', e.tier) else e.tier end,
           auto_stop_at = case when s.environment->>'action' = 'stop' then null
                               when s.environment->>'action' in ('start', 'prepare', 'access')
                                and s.environment->'auto_stop_seconds' is not null
                               then clock_timestamp()
                                    + make_interval(secs => (s.environment->>'auto_stop_seconds')::float)
                               else e.auto_stop_at end,
           auto_delete_at = case when s.environment->>'action' = 'start' then null else e.auto_delete_at end,
           updated_at = clock_timestamp()
      from ci_jobs j join ci_job_specs s on s.id = j.spec_id left join deployments d on d.job_id = j.id
     where j.id = any(${p.ids}::bigint[]) and e.id = j.environment_id and s.environment->>'action' <> 'verify'`,
)

// The environment whose stopping job did not succeed is there still.
const revive = statement(
  (p: Ids) => sql`
    update environments e set state = 'available', updated_at = clock_timestamp()
      from ci_jobs j join ci_job_specs s on s.id = j.spec_id
     where j.id = any(${p.ids}::bigint[]) and e.id = j.environment_id and e.state = 'stopping'
       and s.environment->>'action' = 'stop'`,
)

/** States whose entering tells of a deployment. */
const TOLD: Partial<Record<JobStatus, true>> = { running: true, success: true, failed: true, canceled: true }

/** Records that deployments began or ended. */
export const recordDeployments = (db: Db, deployments: readonly Followed[]): Promise<void> =>
  recordEvents(
    db,
    deployments.map(({ id, project_id, status, user_id }) => ({
      kind: 'deployment',
      action: status,
      author_id: user_id,
      project_id,
      target_type: 'deployment',
      target_id: id,
      trigger: 'deployment_events',
    })),
  )

/** Brings deployments and environments up to date with jobs that entered the state `to`. */
export async function followJobs(db: Db, ids: readonly number[], to: JobStatus): Promise<void> {
  if (to !== 'created') await db.run(insert, { ids })
  const deployments = await db.rows(follow, { ids })
  if (to in TOLD) await recordDeployments(db, deployments)
  if (to === 'failed' || to === 'canceled' || to === 'skipped') await db.run(revive, { ids })
  if (to !== 'success') return
  await db.run(succeed, { ids })
  for (const { id } of deployments) await enqueue(db, linkMergeRequests, { deployment_id: id })
}

const setUrl = statement(
  (p: Slots<{ job_id: number; external_url: string }>) => sql`
    update deployments set external_url = ${p.external_url} where job_id = ${p.job_id}`,
)
/** Sets the address of a job's deployment, when all its variables are known. */
export const setDeploymentUrl = (db: Db, job_id: number, external_url: string): Promise<number> =>
  db.run(setUrl, { job_id, external_url })

const urlOf = statement(
  (p: Slots<{ job_id: number }>) => sql<{ external_url: string | null }>`
    select external_url from deployments where job_id = ${p.job_id}`,
)
/** The address that a job deploys to; null where it has none. */
export const deploymentUrl = async (db: Db, job_id: number): Promise<string | null> =>
  (await db.one(urlOf, { job_id }))?.external_url ?? null

const release = statement(
  (p: Slots<{ pipelines: readonly number[] }>) => sql`
    with ended as (
      update deployments d set status = 'canceled', finished_at = clock_timestamp(), updated_at = clock_timestamp()
        from ci_jobs j
       where j.pipeline_id = any(${p.pipelines}::bigint[]) and d.job_id = j.id
         and d.status in ('created', 'running', 'blocked'))
    update environments e set state = 'available', updated_at = clock_timestamp()
      from ci_jobs j join ci_job_specs s on s.id = j.spec_id
     where j.pipeline_id = any(${p.pipelines}::bigint[]) and e.id = j.environment_id and e.state = 'stopping'
       and s.environment->>'action' = 'stop' and j.status not in ('success', 'failed', 'canceled', 'skipped')`,
)
/** Ends what jobs of these pipelines have begun, before the pipelines are deleted. */
export const releaseDeployments = (db: Db, pipelines: readonly number[]): Promise<number> =>
  db.run(release, { pipelines })
