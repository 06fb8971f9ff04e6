import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import type { Pipeline as PipelineRow } from '../../db/schema/repositories.ts'
import { nullable, timestamp } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { Pipeline, presentPipeline } from '../pipelines/pipeline.ts'
import { UserBasic, authorJson, presentUser, type Author } from '../people/user.ts'

const DetailedStatus = t.Object({
  icon: t.String(),
  text: t.String(),
  label: t.String(),
  group: t.String(),
  tooltip: t.String(),
  has_details: t.Boolean(),
  details_path: t.String(),
  illustration: t.Null(),
  favicon: nullable(t.String()),
})

/** A pipeline by itself. */
export const PipelineDetail = t.Object({
  ...Pipeline.properties,
  name: nullable(t.String()),
  before_sha: t.String(),
  tag: t.Boolean(),
  yaml_errors: nullable(t.String()),
  user: nullable(UserBasic),
  started_at: nullable(timestamp()),
  finished_at: nullable(timestamp()),
  committed_at: nullable(timestamp()),
  duration: nullable(t.Integer({ description: 'Seconds' })),
  queued_duration: nullable(t.Integer({ description: 'Seconds' })),
  coverage: nullable(t.String()),
  detailed_status: DetailedStatus,
})

export type PipelineWithUser = PipelineRow & {
  readonly user: Author | null
  readonly coverage: number | null
}

/** The columns of a PipelineWithUser, for the rows `pipelines`. */
export const pipelineDetailOf = (pipelines: RawBuilder<unknown>): RawBuilder<PipelineWithUser> => sql`
  select p.*, ${authorJson(sql`p.user_id`)} as user,
         (select avg(coverage) from (
            select j.coverage from ci_jobs j where j.pipeline_id = p.id and not j.retried
            union all
            select s.coverage from commit_statuses s where s.pipeline_id = p.id and not s.retried) c) as coverage
    from (${pipelines}) p`

/** Words of a status where they are not the status itself. */
const LABELS: Readonly<Record<string, string>> = {
  success: 'passed',
  waiting_for_resource: 'waiting for resource',
  waiting_for_callback: 'waiting for callback',
  manual: 'manual action',
  scheduled: 'delayed',
}

function detailedStatus(status: string, details_path: string): Static<typeof DetailedStatus> {
  const label = LABELS[status] ?? status
  const text = status === 'manual' ? 'Manual' : label[0]?.toUpperCase() + label.slice(1)
  return {
    icon: `status_${status}`,
    text,
    label,
    group: status.replaceAll('_', '-'),
    tooltip: label,
    has_details: true,
    details_path,
    illustration: null,
    favicon: null,
  }
}

export function presentPipelineDetail(
  row: PipelineWithUser,
  project: { readonly full_path: string },
  site: Pick<Instance, 'config'>,
): Static<typeof PipelineDetail> {
  const queued = row.started_at && (row.started_at.getTime() - row.created_at.getTime()) / 1_000
  return {
    ...presentPipeline(row, project, site),
    name: row.name,
    before_sha: row.before_sha,
    tag: row.tag,
    yaml_errors: row.yaml_errors,
    user: row.user && presentUser(row.user, site),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    committed_at: row.committed_at?.toISOString() ?? null,
    duration: row.duration,
    queued_duration: queued === null ? null : Math.round(queued),
    coverage: row.coverage === null ? null : row.coverage.toFixed(2),
    detailed_status: detailedStatus(row.status, `/${project.full_path}/-/pipelines/${row.id}`),
  }
}
