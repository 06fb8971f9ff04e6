import { Type as t, type Static } from 'typebox'
import { nullable, timestamp } from '../../http/params/schema.ts'
import { MergeRequest, presentMergeRequest, type MergeRequestShown } from './merge_request.ts'
import type { Around } from '../conversation/noteable.ts'
import { Pipeline } from '../pipelines/pipeline.ts'

const DiffRefs = t.Object({ base_sha: t.String(), head_sha: t.String(), start_sha: t.String() })

/** A merge request by itself. */
export const MergeRequestDetail = t.Object({
  ...MergeRequest.properties,
  subscribed: t.Boolean(),
  changes_count: nullable(t.String()),
  latest_build_started_at: nullable(timestamp()),
  latest_build_finished_at: nullable(timestamp()),
  first_deployed_to_production_at: nullable(timestamp()),
  pipeline: nullable(Pipeline),
  head_pipeline: nullable(Pipeline),
  diff_refs: nullable(DiffRefs),
  merge_error: nullable(t.String()),
  first_contribution: t.Boolean(),
  user: t.Object({ can_merge: t.Boolean() }),
  diverged_commits_count: t.Optional(t.Integer()),
  rebase_in_progress: t.Optional(t.Boolean()),
})

interface Alone {
  readonly canMerge: boolean
  /** The newest of what its source branch holds; null also to who sees none. */
  readonly pipeline: Static<typeof Pipeline> | null
  readonly diverged?: number | undefined
  readonly rebasing?: boolean
}

/** A merge request as its own operation shows it. */
export const presentMergeRequestDetail = (
  row: MergeRequestShown,
  around: Around,
  { canMerge, pipeline, diverged, rebasing }: Alone,
): Static<typeof MergeRequestDetail> => ({
  ...presentMergeRequest(row, around),
  subscribed: row.subscribed ?? false,
  changes_count: row.diff?.changes_count ?? null,
  latest_build_started_at: null,
  latest_build_finished_at: null,
  first_deployed_to_production_at: null,
  pipeline,
  head_pipeline: pipeline,
  diff_refs:
    row.diff && row.head_sha !== null
      ? { base_sha: row.diff.base_sha, head_sha: row.head_sha, start_sha: row.diff.start_sha }
      : null,
  merge_error: row.merge_error,
  first_contribution: false,
  user: { can_merge: canMerge },
  ...(diverged !== undefined && { diverged_commits_count: diverged }),
  ...(rebasing === true && { rebase_in_progress: false }),
})
