import { Type as t, type Static } from 'typebox'
import type { Job as JobRow } from '../../db/schema/ci.ts'
import { nullable, timestamp } from '../../http/params/schema.ts'
import type { JobsAround, Place, Tools } from './job_around.ts'
import { JobBasic, presentJobBasic } from './job.ts'
import { Runner, RunnerManager, presentRunner, presentRunnerManager } from '../pipelines/runner.ts'

/** A job by itself and in the lists of jobs. */
export const Job = t.Object({
  ...JobBasic.properties,
  artifacts_file: t.Optional(t.Object({ filename: t.String(), size: t.Integer() })),
  artifacts: t.Array(
    t.Object({
      file_type: t.String(),
      size: t.Integer(),
      filename: t.String(),
      file_format: nullable(t.String()),
    }),
  ),
  runner: nullable(Runner),
  runner_manager: nullable(RunnerManager),
  artifacts_expire_at: nullable(timestamp()),
  archived: t.Boolean(),
  tag_list: t.Array(t.String()),
})

export function presentJob(
  row: JobRow,
  project: Place,
  around: JobsAround,
  tools: Tools,
): Static<typeof Job> {
  const artifacts = around.artifacts.filter(
    ({ job_id, expire_at }) => job_id === row.id && (expire_at === null || expire_at > tools.now),
  )
  const archive = artifacts.find(({ file_type }) => file_type === 'archive')
  const runner = row.runner_id === null ? undefined : around.runners.get(row.runner_id)
  const manager = row.runner_manager_id === null ? undefined : around.managers.get(row.runner_manager_id)
  return {
    ...presentJobBasic(row, project, around, tools),
    ...(archive && { artifacts_file: { filename: archive.filename, size: archive.size } }),
    artifacts: artifacts.map(({ file_type, size, filename, file_format }) => ({
      file_type,
      size,
      filename,
      file_format,
    })),
    runner: runner === undefined ? null : presentRunner(runner, tools.now),
    runner_manager: manager === undefined ? null : presentRunnerManager(manager, tools.now),
    artifacts_expire_at: row.artifacts_expire_at?.toISOString() ?? null,
    archived: project.archived,
    tag_list: [...(around.tags.get(row.tag_set_id) ?? [])],
  }
}
