import { Type as t, type Static } from 'typebox'
import type { Pipeline as PipelineRow } from '../../db/schema/repositories.ts'
import { moment } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'

export const Pipeline = t.Object({
  id: t.Integer(),
  iid: t.Integer(),
  project_id: t.Integer(),
  sha: t.String(),
  ref: t.String(),
  status: t.String(),
  source: t.String(),
  created_at: moment(),
  updated_at: moment(),
  web_url: t.String(),
})

/** Fields of a pipeline beside its commit. */
export const presentPipeline = (
  row: PipelineRow,
  project: { readonly full_path: string },
  { config }: Pick<Instance, 'config'>,
): Static<typeof Pipeline> => ({
  id: row.id,
  iid: row.iid,
  project_id: row.project_id,
  sha: row.sha,
  ref: row.ref,
  status: row.status,
  source: row.source,
  created_at: row.created_at,
  updated_at: row.updated_at,
  web_url: `${config.url}/${project.full_path}/-/pipelines/${row.id}`,
})
