import { Type as t, type Static } from 'typebox'
import { UserBasic, presentUser, type Author } from '../../records/people/user.ts'
import type { CommitStatus as StatusRow } from '../../db/schema/repositories.ts'
import { nullable, moment } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'

export const CommitStatus = t.Object({
  id: t.Integer(),
  sha: t.String(),
  ref: t.String(),
  status: t.String(),
  name: t.String(),
  target_url: nullable(t.String()),
  description: nullable(t.String()),
  created_at: moment(),
  started_at: nullable(moment()),
  finished_at: nullable(moment()),
  allow_failure: t.Boolean(),
  coverage: nullable(t.Number()),
  pipeline_id: t.Integer(),
  author: nullable(UserBasic),
})

export type StatusWithAuthor = StatusRow & { readonly author: Author | null }

export const present = (
  row: StatusWithAuthor,
  site: Pick<Instance, 'config'>,
): Static<typeof CommitStatus> => ({
  id: row.id,
  sha: row.sha,
  ref: row.ref,
  status: row.status,
  name: row.name,
  target_url: row.target_url,
  description: row.description,
  created_at: row.created_at,
  started_at: row.started_at,
  finished_at: row.finished_at,
  allow_failure: row.allow_failure,
  coverage: row.coverage,
  pipeline_id: row.pipeline_id,
  author: row.author && presentUser(row.author, site),
})
