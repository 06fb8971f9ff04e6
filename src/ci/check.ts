import { sql } from 'kysely'
import type { Db } from '../db/db.ts'
import { statement, statements, type Slots } from '../db/statement.ts'
import { statusOfJob } from './environments/deployments.ts'
import { latestJobs, pipelineMembers } from './jobs/store.ts'
import { processJobs } from './processing.ts'
import { nextOfGroup } from './resource_assignment.ts'
import { pipelineStatus } from './status.ts'

export const INCONSISTENCIES = [
  'jammed_group',
  'undecided_job',
  'wrong_status',
  'retried_job_runs',
  'job_without_lease',
  'wrong_deployment',
  'stuck_environment',
  'stuck_bridge',
] as const

/** Something that a turn must never leave behind. */
export interface Inconsistency {
  readonly kind: (typeof INCONSISTENCIES)[number]
  /** Of the resource group, pipeline, job, deployment or environment. */
  readonly id: number
  readonly project_id: number
}

/** Ids of a table, `after` left out. */
interface Range {
  readonly after: number
  readonly upto: number
}
interface Row {
  readonly id: number
  readonly project_id: number
}

const waitingGroups = statement(
  (p: Slots<Range>) => sql<Row>`
    select distinct resource_group_id as id, project_id from ci_jobs
     where resource_group_id > ${p.after} and resource_group_id <= ${p.upto} and status = 'waiting_for_resource'
     order by 1`,
)
const livePipelines = statement(
  (p: Slots<Range>) => sql<Row & { status: string }>`
    select p.id, p.project_id, p.status from pipelines p
     where p.id > ${p.after} and p.id <= ${p.upto} and exists (select from ci_jobs j where j.pipeline_id = p.id)
       and (p.status not in ('success', 'failed', 'canceled', 'skipped') or p.updated_at > now() - interval '1 day')
     order by p.id`,
)
const oddJobs = statement(
  (p: Slots<Range>) => sql<Row & { retried: boolean }>`
    select id, project_id, retried from ci_jobs
     where id > ${p.after} and id <= ${p.upto}
       and ((retried and status not in ('success', 'failed', 'canceled', 'skipped'))
            or (kind = 'build' and status in ('running', 'canceling')
                and (started_at is null or timeout is null or token_digest is null)))
     order by id`,
)
const wrongDeployments = statement(
  (p: Slots<Range>) => sql<Row>`
    select d.id, d.project_id from deployments d join ci_jobs j on j.id = d.job_id
     where d.id > ${p.after} and d.id <= ${p.upto} and d.status <> ${statusOfJob} order by d.id`,
)
// An environment stops only while the job that stops it has not ended.
const stuckEnvironments = statement(
  (p: Slots<Range>) => sql<Row>`
    select e.id, e.project_id from environments e
     where e.id > ${p.after} and e.id <= ${p.upto} and e.state = 'stopping' and not exists (
       select from ci_jobs j join ci_job_specs s on s.id = j.spec_id
        where j.environment_id = e.id and s.environment->>'action' = 'stop'
          and j.status not in ('success', 'failed', 'canceled', 'skipped', 'manual'))
     order by e.id`,
)

// In the project of the bridge its downstream pipeline ends in the transaction that ends the bridge; jobs do the rest.
const stuckBridges = statement(
  (p: Slots<Range>) => sql<Row>`
    select j.id, j.project_id
      from ci_jobs j join ci_job_specs s on s.id = j.spec_id left join pipelines d on d.id = j.downstream_id
     where j.id > ${p.after} and j.id <= ${p.upto} and j.kind = 'bridge'
       and j.status in ('pending', 'running', 'canceling', 'manual', 'scheduled')
       and (d.status in ('success', 'failed', 'canceled', 'skipped')
              and (d.project_id = j.project_id or d.updated_at < now() - interval '1 hour')
            or d.id is null and j.status <> 'manual' and coalesce(j.started_at, j.queued_at) < now() - interval '1 day')
     order by j.id`,
)

/** A search through the rows of a table. */
interface Search {
  readonly table: string
  /** Rows that one call looks at. */
  readonly batch: number
  readonly find: (tx: Db, range: Range) => Promise<Inconsistency[]>
}

const SEARCHES: readonly Search[] = [
  {
    table: 'resource_groups',
    batch: 200,
    find: async (tx, range) => {
      const found: Inconsistency[] = []
      for (const { id, project_id } of await tx.rows(waitingGroups, range))
        if ((await nextOfGroup(tx, id)) !== undefined) found.push({ kind: 'jammed_group', id, project_id })
      return found
    },
  },
  {
    table: 'ci_jobs',
    batch: 5_000,
    find: async (tx, range) =>
      (await tx.rows(oddJobs, range)).map(({ id, project_id, retried }) => ({
        kind: retried ? 'retried_job_runs' : 'job_without_lease',
        id,
        project_id,
      })),
  },
  {
    table: 'ci_jobs',
    batch: 5_000,
    find: async (tx, range) =>
      (await tx.rows(stuckBridges, range)).map((row) => ({ kind: 'stuck_bridge', ...row })),
  },
  {
    table: 'deployments',
    batch: 5_000,
    find: async (tx, range) =>
      (await tx.rows(wrongDeployments, range)).map((row) => ({ kind: 'wrong_deployment', ...row })),
  },
  {
    table: 'environments',
    batch: 5_000,
    find: async (tx, range) =>
      (await tx.rows(stuckEnvironments, range)).map((row) => ({ kind: 'stuck_environment', ...row })),
  },
  {
    table: 'pipelines',
    batch: 200,
    find: async (tx, range) => {
      const found: Inconsistency[] = []
      for (const one of await tx.rows(livePipelines, range)) found.push(...(await checkPipeline(tx, one)))
      return found
    },
  },
]

const lastOfBatch = statements<
  Pick<Search, 'table' | 'batch'>,
  { readonly after: number },
  { last: number | null }
>(
  (p, { table, batch }) => sql<{ last: number | null }>`
    select max(id) as last from (
      select id from ${sql.table(table)} where id > ${p.after} order by id limit ${sql.lit(batch)}) rows`,
)

interface Batch {
  readonly found: readonly Inconsistency[]
  /** Undefined behind the last batch of the table. */
  readonly last: number | undefined
}
async function searchBatch(tx: Db, { table, batch, find }: Search, after: number): Promise<Batch> {
  const last = (await tx.one(lastOfBatch({ table, batch }), { after }))?.last ?? undefined
  return { found: last === undefined ? [] : await find(tx, { after, upto: last }), last }
}

/** Looks for what can never be: on a snapshot, so that turns under way do not disturb it. */
export function findInconsistencies(db: Db): Promise<Inconsistency[]> {
  return db.transaction(
    async (tx) => {
      const all: Inconsistency[] = []
      for (const search of SEARCHES) {
        let after: number | undefined = 0
        while (after !== undefined) {
          const { found, last }: Batch = await searchBatch(tx, search, after)
          all.push(...found)
          after = last
        }
      }
      return all
    },
    { snapshot: true },
  )
}

/**
 * Makes a function that searches one batch of one table at each call and begins anew behind the last: the cost of a call
 * does not grow with the number of rows.
 */
export function createInspection(db: Db): () => Promise<readonly Inconsistency[]> {
  let [at, after] = [0, 0]
  return async () => {
    const search = SEARCHES[at]
    if (search === undefined) return []
    const { found, last } = await db.transaction((tx) => searchBatch(tx, search, after), { snapshot: true })
    if (last === undefined) at = (at + 1) % SEARCHES.length
    after = last ?? 0
    return found
  }
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
