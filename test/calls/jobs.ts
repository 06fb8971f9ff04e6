import { writeConfig } from '../support/config_commit.ts'
import { keepArchive } from '../support/artifacts.ts'
import { rowOf, rowsOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'
import type { Scene } from './scene.ts'

const tokenOf = ({ project }: Scene): string => `glcbt-scene-${project.id}`

/** The state of the one job before an operation. */
const STATES: Readonly<Record<string, string>> = {
  downloadRefArtifacts: 'success',
  downloadRefArtifactFile: 'success',
  playJob: 'manual',
  cancelJob: 'running',
  getOwnJob: 'running',
}

/** Jobs: one, of a pipeline that nobody started. */
export const jobs: Calls = {
  inPrivate: `
                          none   0   5  10  15  20  30  40  50 adm nobody
  listJobs                 404 404 404 403 403 200 200 200 200 200 401
  listPipelineJobs         404 404 404 403 403 200 200 200 200 200 404
  listPipelineBridges      404 404 404 403 403 200 200 200 200 200 404
  getJob                   404 404 404 403 403 200 200 200 200 200 401
  getOwnJob                404 404 404 404 404 404 404 404 404 404 401
  getJobTrace              404 404 404 403 403 200 200 200 200 200 401
  playJob                  404 404 404 403 403 403 200 200 200 200 401
  retryJob                 404 404 404 403 403 403 201 201 201 201 401
  cancelJob                404 404 404 403 403 403 201 201 201 201 401
  eraseJob                 404 404 404 403 403 403 403 201 201 201 401
  downloadJobArtifacts     404 404 404 403 403 200 200 200 200 200 404
  downloadJobArtifactFile  404 404 404 403 403 200 200 200 200 200 404
  downloadRefArtifacts     404 404 404 403 403 200 200 200 200 200 404
  downloadRefArtifactFile  404 404 404 403 403 200 200 200 200 200 404
  keepJobArtifacts         404 404 404 403 403 403 200 200 200 200 401
  deleteJobArtifacts       404 404 404 403 403 403 403 204 204 204 401
  deleteProjectArtifacts   404 404 404 403 403 403 403 202 202 202 401
`,
  inPublic: `
                          none   0   5  10  15  20  30  40  50 adm nobody
  listJobs                 200 200 200 200 200 200 200 200 200 200 401
  listPipelineJobs         200 200 200 200 200 200 200 200 200 200 200
  listPipelineBridges      200 200 200 200 200 200 200 200 200 200 200
  getJob                   200 200 200 200 200 200 200 200 200 200 401
  getOwnJob                404 404 404 404 404 404 404 404 404 404 401
  getJobTrace              200 200 200 200 200 200 200 200 200 200 401
  playJob                  403 403 403 403 403 403 200 200 200 200 401
  retryJob                 403 403 403 403 403 403 201 201 201 201 401
  cancelJob                403 403 403 403 403 403 201 201 201 201 401
  eraseJob                 403 403 403 403 403 403 403 201 201 201 401
  downloadJobArtifacts     200 200 200 200 200 200 200 200 200 200 200
  downloadJobArtifactFile  200 200 200 200 200 200 200 200 200 200 200
  downloadRefArtifacts     200 200 200 200 200 200 200 200 200 200 200
  downloadRefArtifactFile  200 200 200 200 200 200 200 200 200 200 200
  keepJobArtifacts         403 403 403 403 403 403 200 200 200 200 401
  deleteJobArtifacts       403 403 403 403 403 403 403 204 204 204 401
  deleteProjectArtifacts   403 403 403 403 403 403 403 202 202 202 401
`,
  queries: { downloadRefArtifacts: { job: 'build' }, downloadRefArtifactFile: { job: 'build' } },
  set: async (world, scene, operation) => {
    const { project } = scene
    const sha = writeConfig(world, project, 'build: { script: make }\n')
    await rowsOf(world, 'delete from pipelines where project_id = $1', [project.id])
    const row = await rowOf<{ id: number; pipeline_id: number }>(
      world,
      `with last as (
         insert into project_counters (project_id, counts, last) values ($1, 'pipelines', 1)
         on conflict (project_id, counts) do update set last = project_counters.last + 1 returning last),
       made as (
         insert into pipelines (iid, project_id, sha, ref, status) select last, $1, $2, 'ci', 'success' from last
         returning id),
       tags as (
         insert into ci_tag_sets (tags) values ('{}') on conflict (tags) do update set tags = excluded.tags returning id),
       spec as (
         insert into ci_job_specs (pipeline_id, run_when, allow_failure, scheduling_type)
         select id, 'on_success', false, 'stage' from made returning id)
       insert into ci_jobs (project_id, pipeline_id, spec_id, kind, name, stage, stage_index, allow_failure, tag_set_id,
                            user_id, status, started_at, contacted_at, timeout, token_digest)
       select $1, made.id, spec.id, 'build', 'build', 'test', 0, false, tags.id, $5, $3, now(), now(), 3600, sha256($4::bytea)
         from made, spec, tags
       returning id, pipeline_id`,
      [
        project.id,
        sha,
        STATES[operation] ?? 'failed',
        Buffer.from(tokenOf(scene)),
        scene.callers.get('owner')?.id ?? null,
      ],
    )
    await keepArchive(world, { id: row.id, project_id: project.id })
    return {
      ref_name: 'ci',
      artifact_path: 'out/made.txt',
      job_id: String(row.id),
      pipeline_id: String(row.pipeline_id),
    }
  },
}
