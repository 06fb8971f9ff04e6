import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { statement, type Slots } from '../db/statement.ts'
import { statusOfJob } from './deployments.ts'
import { latestJobs, pipelineMembers } from './job_store.ts'
import { processJobs } from './processing.ts'
import { nextOfGroup } from './resource_assignment.ts'
import { pipelineStatus } from './status.ts'

/** Something that a turn must never leave behind. */
export interface Inconsistency {
  readonly kind:
    | 'jammed_group'
    | 'undecided_job'
    | 'wrong_status'
    | 'retried_job_runs'
    | 'job_without_lease'
    | 'wrong_deployment'
    | 'stuck_environment'
  /** Of the resource group, pipeline, job, deployment or environment. */
  readonly id: number
  readonly project_id: number
}

const waitingGroups = statement(
  () => sql<{ id: number; project_id: number }>`
    select distinct resource_group_id as id, project_id from ci_jobs
     where resource_group_id is not null and status = 'waiting_for_resource' order by 1`,
)
const pipelinesAfter = statement(
  (p: Slots<{ after: number }>) => sql<{ id: number; project_id: number; status: string }>`
    select p.id, p.project_id, p.status from pipelines p
     where p.id > ${p.after} and exists (select from ci_jobs j where j.pipeline_id = p.id)
       and (p.status not in ('success', 'failed', 'canceled', 'skipped') or p.updated_at > now() - interval '1 day')
     order by p.id limit 500`,
)
const oddJobs = statement(
  () => sql<{ id: number; project_id: number; retried: boolean }>`
    select id, project_id, retried from ci_jobs
     where (retried and status not in ('success', 'failed', 'canceled', 'skipped'))
        or (kind = 'build' and status in ('running', 'canceling')
            and (started_at is null or timeout is null or token_digest is null))
     order by id`,
)

const wrongDeployments = statement(
  () => sql<{ id: number; project_id: number }>`
    select d.id, d.project_id from deployments d join ci_jobs j on j.id = d.job_id
     where d.status <> ${statusOfJob} order by d.id`,
)
// An environment stops only while the job that stops it has not ended.
const stuckEnvironments = statement(
  () => sql<{ id: number; project_id: number }>`
    select e.id, e.project_id from environments e
     where e.state = 'stopping' and not exists (
       select from ci_jobs j join ci_job_specs s on s.id = j.spec_id
        where j.environment_id = e.id and s.environment->>'action' = 'stop'
          and j.status not in ('success', 'failed', 'canceled', 'skipped', 'manual'))
     order by e.id`,
)

/** Looks for what can never be: on a snapshot, so that turns under way do not disturb it. */
export function findInconsistencies(db: Db): Promise<Inconsistency[]> {
  return db.transaction(
    async (tx) => {
      const found: Inconsistency[] = []
      for (const { id, project_id } of await tx.rows(waitingGroups, {}))
        if ((await nextOfGroup(tx, id)) !== undefined) found.push({ kind: 'jammed_group', id, project_id })
      for (const { id, project_id, retried } of await tx.rows(oddJobs, {}))
        found.push({ kind: retried ? 'retried_job_runs' : 'job_without_lease', id, project_id })
      for (const row of await tx.rows(wrongDeployments, {})) found.push({ kind: 'wrong_deployment', ...row })
      for (const row of await tx.rows(stuckEnvironments, {}))
        found.push({ kind: 'stuck_environment', ...row })
      let after = 0
      for (;;) {
        const pipelines = await tx.rows(pipelinesAfter, { after })
        if (pipelines.length === 0) return found
        for (const pipeline of pipelines) found.push(...(await checkPipeline(tx, pipeline)))
        after = pipelines.at(-1)?.id ?? after
      }
    },
    { snapshot: true },
  )
}

async function checkPipeline(
  db: Db,
  { id, project_id, status }: { readonly id: number; readonly project_id: number; readonly status: string },
): Promise<Inconsistency[]> {
  const steps = processJobs(await latestJobs(db, id))
  const composite = pipelineStatus(await pipelineMembers(db, [id]))
  return [
    ...steps.map((step) => ({ kind: 'undecided_job' as const, id: step.id, project_id })),
    ...(composite !== undefined && composite !== status
      ? [{ kind: 'wrong_status' as const, id, project_id }]
      : []),
  ]
}
