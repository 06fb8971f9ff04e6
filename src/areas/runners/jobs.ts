import { sql } from 'kysely'
import { Type as t, type Static } from 'typebox'
import type { Project } from '../../db/schema/tables.ts'
import type { Job } from '../../db/schema/ci.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { moment, nullable } from '../../http/params/schema.ts'
import { JobBasic, presentJobBasic, presentJobs } from '../../records/jobs/job.ts'

type PlacedProject = Project & { readonly home: string }
const projectsStatement = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<PlacedProject>`
    select o.*, n.full_name as home from projects o join namespaces n on n.id = o.namespace_id
     where o.id = any(${p.ids}::bigint[])`,
)

/** A job of a runner, with the project that it is of. */
export const JobWithProject = t.Object({
  ...JobBasic.properties,
  project: t.Object({
    id: t.Integer(),
    description: nullable(t.String()),
    name: t.String(),
    name_with_namespace: t.String(),
    path: t.String(),
    path_with_namespace: t.String(),
    created_at: moment(),
  }),
})

type Tools = Parameters<typeof presentJobs>[0]

/** Presents jobs of several projects, in their order. */
export async function presentRunnerJobs(
  tools: Tools,
  jobs: readonly Job[],
): Promise<Static<typeof JobWithProject>[]> {
  const ids = [...new Set(jobs.map(({ project_id }) => project_id))]
  const shown = new Map<number, Static<typeof JobWithProject>>()
  for (const project of await tools.db.rows(projectsStatement, { ids })) {
    const own = jobs.filter(({ project_id }) => project_id === project.id)
    for (const job of await presentJobs(tools, project, own, presentJobBasic))
      shown.set(job.id, {
        ...job,
        project: {
          id: project.id,
          description: project.description,
          name: project.name,
          name_with_namespace: `${project.home} / ${project.name}`,
          path: project.path,
          path_with_namespace: project.full_path,
          created_at: project.created_at,
        },
      })
  }
  return jobs.flatMap(({ id }) => shown.get(id) ?? [])
}
