import { readCommits } from '../../core/repositories/commit_reading.ts'
import { sql } from 'kysely'
import type { Static } from 'typebox'
import { repositoryPath } from '../../core/places/projects.ts'
import type { Project, User } from '../../db/schema/tables.ts'
import type { Job as JobRow, JobArtifact, Runner, RunnerManager } from '../../db/schema/ci.ts'
import type { Pipeline as PipelineRow } from '../../db/schema/repositories.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import type { Instance } from '../../instance.ts'
import { type Commit, presentCommit } from '../repositories/commit.ts'

const pipelinesOf = statement((p: Slots<{ ids: readonly number[] }>) =>
  q
    .selectFrom('pipelines')
    .selectAll()
    .where('id', '=', sql<number>`any(${p.ids}::bigint[])`),
)
const usersOf = statement((p: Slots<{ ids: readonly number[] }>) =>
  q
    .selectFrom('users')
    .selectAll()
    .where('id', '=', sql<number>`any(${p.ids}::bigint[])`),
)
const artifactsOf = statement((p: Slots<{ ids: readonly number[] }>) =>
  q
    .selectFrom('ci_job_artifacts')
    .selectAll()
    .where('job_id', '=', sql<number>`any(${p.ids}::bigint[])`)
    .orderBy('id'),
)
const tagsOf = statement((p: Slots<{ ids: readonly number[] }>) =>
  q
    .selectFrom('ci_tag_sets')
    .selectAll()
    .where('id', '=', sql<number>`any(${p.ids}::bigint[])`),
)
const runnersOf = statement((p: Slots<{ ids: readonly number[] }>) =>
  q
    .selectFrom('ci_runners')
    .selectAll()
    .where('id', '=', sql<number>`any(${p.ids}::bigint[])`),
)
const managersOf = statement((p: Slots<{ ids: readonly number[] }>) =>
  q
    .selectFrom('ci_runner_managers')
    .selectAll()
    .where('id', '=', sql<number>`any(${p.ids}::bigint[])`),
)

export type Tools = Pick<Instance, 'config' | 'db' | 'git'> & { readonly now: Date }
export type Place = Pick<Project, 'id' | 'full_path' | 'archived'>

/** Records that many jobs refer to, each read once. */
export interface JobsAround {
  readonly pipelines: ReadonlyMap<number, PipelineRow>
  readonly users: ReadonlyMap<number, User>
  readonly tags: ReadonlyMap<number, readonly string[]>
  readonly artifacts: readonly JobArtifact[]
  readonly runners: ReadonlyMap<number, Runner>
  readonly managers: ReadonlyMap<number, RunnerManager>
  readonly commits: ReadonlyMap<string, Static<typeof Commit>>
}

const byId = <Row extends { readonly id: number }>(rows: readonly Row[]): ReadonlyMap<number, Row> =>
  new Map(rows.map((row) => [row.id, row]))
const idsOf = (ids: readonly (number | null)[]): number[] => [...new Set(ids.filter((id) => id !== null))]

/** Reads what the jobs of one project refer to, in as many statements for one job as for a hundred. */
export async function readAround(
  { db, git, config }: Tools,
  project: Place,
  jobs: readonly JobRow[],
): Promise<JobsAround> {
  const of = (pick: (job: JobRow) => number | null): { ids: number[] } => ({ ids: idsOf(jobs.map(pick)) })
  const pipelines = await db.rows(pipelinesOf, {
    ids: idsOf(jobs.flatMap((job) => [job.pipeline_id, job.downstream_id])),
  })
  const users = await db.rows(
    usersOf,
    of((job) => job.user_id),
  )
  const tags = await db.rows(
    tagsOf,
    of((job) => job.tag_set_id),
  )
  const artifacts = await db.rows(
    artifactsOf,
    of((job) => job.id),
  )
  const runners = await db.rows(
    runnersOf,
    of((job) => job.runner_id),
  )
  const managers = await db.rows(
    managersOf,
    of((job) => job.runner_manager_id),
  )
  const repository = git.repository(repositoryPath(project.id))
  const commits = new Map<string, Static<typeof Commit>>()
  const shas = new Set(pipelines.filter(({ project_id }) => project_id === project.id).map(({ sha }) => sha))
  if (await repository.exists())
    for (const commit of await readCommits(repository, [...shas]))
      commits.set(commit.id, presentCommit(commit, project, { config }))
  return {
    pipelines: byId(pipelines),
    users: byId(users),
    tags: new Map(tags.map((row) => [row.id, row.tags])),
    artifacts,
    runners: byId(runners),
    managers: byId(managers),
    commits,
  }
}
