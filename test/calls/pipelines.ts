import { writeConfig } from '../support/config_commit.ts'
import { rowOf, rowsOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

/** Pipelines: one that has failed, and a branch with a configuration. */
export const pipelines: Calls = {
  inPrivate: `
                          none   0   5  10  15  20  30  40  50 adm nobody
  listPipelines            404 404 404 403 403 200 200 200 200 200 404
  getPipeline              404 404 404 403 403 200 200 200 200 200 404
  getLatestPipeline        404 404 404 403 403 200 200 200 200 200 404
  getPipelineTestReport    404 404 404 403 403 200 200 200 200 200 404
  getPipelineTestReportSummary 404 404 404 403 403 200 200 200 200 200 404
  listPipelineVariables    404 404 404 403 403 403 403 200 200 200 401
  updatePipelineMetadata   404 404 404 403 403 403 200 200 200 200 401
  createPipeline           404 404 404 403 403 403 201 201 201 201 401
  retryPipeline            404 404 404 403 403 403 201 201 201 201 401
  cancelPipeline           404 404 404 403 403 403 200 200 200 200 401
  deletePipeline           404 404 404 403 403 403 403 403 204 204 401
`,
  inPublic: `
                          none   0   5  10  15  20  30  40  50 adm nobody
  listPipelines            200 200 200 200 200 200 200 200 200 200 200
  getPipeline              200 200 200 200 200 200 200 200 200 200 200
  getLatestPipeline        200 200 200 200 200 200 200 200 200 200 200
  getPipelineTestReport    200 200 200 200 200 200 200 200 200 200 200
  getPipelineTestReportSummary 200 200 200 200 200 200 200 200 200 200 200
  listPipelineVariables    403 403 403 403 403 403 403 200 200 200 401
  updatePipelineMetadata   403 403 403 403 403 403 200 200 200 200 401
  createPipeline           403 403 403 403 403 403 201 201 201 201 401
  retryPipeline            403 403 403 403 403 403 201 201 201 201 401
  cancelPipeline           403 403 403 403 403 403 200 200 200 200 401
  deletePipeline           403 403 403 403 403 403 403 403 204 204 401
`,
  bodies: { createPipeline: { ref: 'ci' }, updatePipelineMetadata: { name: 'Ship' } },
  queries: { getLatestPipeline: { ref: 'ci' } },
  set: async (world, { project }) => {
    const sha = writeConfig(world, project, 'build: { script: make }\n')
    await rowsOf(world, 'delete from pipelines where project_id = $1', [project.id])
    const row = await rowOf<{ id: number }>(
      world,
      `with last as (
         insert into project_counters (project_id, counts, last) values ($1, 'pipelines', 1)
         on conflict (project_id, counts) do update set last = project_counters.last + 1 returning last),
       made as (
         insert into pipelines (iid, project_id, sha, ref, status) select last, $1, $2, 'ci', 'failed' from last
         returning id),
       tags as (
         insert into ci_tag_sets (tags) values ('{}') on conflict (tags) do update set tags = excluded.tags returning id),
       spec as (
         insert into ci_job_specs (pipeline_id, run_when, allow_failure, scheduling_type)
         select id, 'on_success', false, 'stage' from made returning id)
       insert into ci_jobs (project_id, pipeline_id, spec_id, kind, name, stage, stage_index, allow_failure, tag_set_id,
                            status)
       select $1, made.id, spec.id, 'build', 'build', 'test', 0, false, tags.id, 'failed' from made, spec, tags
       returning pipeline_id as id`,
      [project.id, sha],
    )
    return { pipeline_id: String(row.id) }
  },
}
