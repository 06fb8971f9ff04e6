import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { readDuration } from '../config/duration.ts'
import type { PlannedEnvironment, PlannedJob } from '../config/plan.ts'
import { keepEnvironments } from '../environments/environments.ts'

const keepTagSets = statement(
  (p: Slots<{ sets: string }>) => sql`
    insert into ci_tag_sets (tags)
    select distinct array(select jsonb_array_elements_text(tags)) from jsonb_array_elements(${p.sets}::jsonb) as tags
    on conflict do nothing`,
)
const keepGroups = statement(
  (p: Slots<{ project_id: number; keys: readonly string[] }>) => sql`
    insert into resource_groups (project_id, key) select ${p.project_id}, unnest(${p.keys}::text[])
    on conflict do nothing`,
)

const insertStatement = statement(
  (
    p: Slots<{
      project_id: number
      pipeline_id: number
      user_id: number | null
      protected: boolean
      instance_runners: boolean
      jobs: string
    }>,
  ) => sql<{ id: number }>`
    with given as materialized (
      select nextval(pg_get_serial_sequence('ci_job_specs', 'id')) as spec_id, g.*
        from jsonb_to_recordset(${p.jobs}::jsonb) as g (
          position bigint, kind text, name text, stage text, stage_index bigint, run_when text, start_in bigint,
          allow_failure boolean, allow_failure_exit_codes bigint[], scheduling_type text, needs text[],
          needs_without_artifacts text[], dependencies text[], interruptible boolean, retry_max bigint,
          retry_when text[], retry_exit_codes bigint[], timeout bigint, coverage text, manual_confirmation text,
          instance_index bigint, instance_total bigint, environment jsonb, trigger jsonb, variables jsonb,
          options jsonb, tags text[], resource_group text)),
    specs as (
      insert into ci_job_specs (
        id, pipeline_id, run_when, start_in, allow_failure, allow_failure_exit_codes, scheduling_type, needs,
        needs_without_artifacts, dependencies, interruptible, retry_max, retry_when, retry_exit_codes, timeout, coverage,
        manual_confirmation, instance_index, instance_total, environment, trigger, variables, options)
      overriding system value
      select spec_id, ${p.pipeline_id}, run_when, start_in, allow_failure, allow_failure_exit_codes, scheduling_type, needs,
             needs_without_artifacts, dependencies, interruptible, retry_max, retry_when, retry_exit_codes, timeout,
             coverage, manual_confirmation, instance_index, instance_total, environment, trigger, variables, options
        from given)
    insert into ci_jobs (
      project_id, pipeline_id, spec_id, kind, name, stage, stage_index, allow_failure, user_id, protected,
      instance_runners, tag_set_id, resource_group_id, environment_id)
    select ${p.project_id}, ${p.pipeline_id}, spec_id, kind, name, stage, stage_index, allow_failure, ${p.user_id},
           ${p.protected}, ${p.instance_runners}, (select t.id from ci_tag_sets t where t.tags = given.tags),
           (select r.id from resource_groups r where r.project_id = ${p.project_id} and r.key = given.resource_group),
           (select e.id from environments e where e.project_id = ${p.project_id} and e.name = given.environment->>'name')
      from given order by position
    returning id`,
)

const KEY = /^[\w\-/${}. ]{1,255}$/

/** A name that no resource group can have leaves the job without one, as an environment of that name would. */
const groupKey = ({ resource_group: key }: PlannedJob): string | null =>
  key !== null && KEY.test(key) ? key : null

/** Seconds until the environment stops, null for never; nothing where the configuration does not say. */
function autoStop({ auto_stop_in }: PlannedEnvironment): { readonly auto_stop_seconds?: number | null } {
  if (auto_stop_in === null) return {}
  if (auto_stop_in === 'never') return { auto_stop_seconds: null }
  const seconds = readDuration(auto_stop_in)
  return seconds === null ? {} : { auto_stop_seconds: seconds }
}

const rowOf = (job: PlannedJob, position: number): object => ({
  position,
  kind: job.kind,
  name: job.name,
  stage: job.stage,
  stage_index: job.stage_index,
  run_when: job.when,
  start_in: job.start_in,
  allow_failure: job.allow_failure,
  allow_failure_exit_codes: job.allow_failure_exit_codes,
  scheduling_type: job.scheduling_type,
  needs: job.needs.map(({ name }) => name),
  needs_without_artifacts: job.needs.filter(({ artifacts }) => !artifacts).map(({ name }) => name),
  dependencies: job.dependencies,
  interruptible: job.interruptible,
  retry_max: job.retry.max,
  retry_when: job.retry.when,
  retry_exit_codes: job.retry.exit_codes,
  timeout: job.timeout,
  coverage: job.coverage,
  manual_confirmation: job.manual_confirmation,
  instance_index: job.instance?.index ?? null,
  instance_total: job.instance?.total ?? null,
  environment: job.environment && { ...job.environment, ...autoStop(job.environment) },
  trigger: job.trigger,
  variables: job.variables,
  options: job.options,
  tags: [...new Set(job.tags)].toSorted(),
  resource_group: groupKey(job),
})

export interface JobsOf {
  readonly project_id: number
  readonly pipeline_id: number
  readonly user_id: number | null
  /** Whether the pipeline's ref is protected. */
  readonly protected: boolean
  readonly instance_runners: boolean
}

/** Inserts the jobs of a plan with their resource groups and environments, in the plan's order. Call in a turn of the project. */
export async function insertJobs(db: Db, of: JobsOf, planned: readonly PlannedJob[]): Promise<number[]> {
  if (planned.length === 0) return []
  const jobs = JSON.stringify(planned.map(rowOf))
  const sets = JSON.stringify(planned.map(({ tags }) => [...new Set(tags)].toSorted()))
  await db.run(keepTagSets, { sets })
  const keys = [...new Set(planned.flatMap((job) => groupKey(job) ?? []))]
  if (keys.length > 0) await db.run(keepGroups, { project_id: of.project_id, keys })
  await keepEnvironments(db, of.project_id, planned)
  return (await db.rows(insertStatement, { ...of, jobs })).map(({ id }) => id)
}
