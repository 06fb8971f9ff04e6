import { Type as t, type Static } from 'typebox'
import type { Project } from '../../db/schema/tables.ts'
import type { Job } from '../../db/schema/ci.ts'
import type { Token } from '../../core/people/access_tokens.ts'
import { date, nullable, timestamp } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { DeployToken } from '../../records/people/deploy_token.ts'
import { Runner } from '../../records/pipelines/runner.ts'
import { TriggerToken } from '../../records/pipelines/trigger_token.ts'

/** A personal, project, group or impersonation token as an administrator sees it. */
const TokenRecord = t.Object({
  id: t.Integer(),
  user_id: t.Integer(),
  name: t.String(),
  revoked: t.Boolean(),
  expires_at: nullable(date()),
  created_at: timestamp(),
  updated_at: timestamp(),
  impersonation: t.Boolean(),
  expire_notification_delivered: t.Boolean(),
  scopes: t.Array(t.String()),
  last_used_at: nullable(timestamp()),
  after_expiry_notification_delivered: t.Boolean(),
  previous_personal_access_token_id: nullable(t.Integer()),
  advanced_scopes: nullable(t.String()),
  organization_id: t.Integer(),
})

/** This instance is one organization, and sends no mail about expiring tokens. */
export const presentToken = (token: Token): Static<typeof TokenRecord> => ({
  id: token.id,
  user_id: token.user_id,
  name: token.name,
  revoked: token.revoked,
  expires_at: token.expires_at,
  created_at: token.created_at.toISOString(),
  updated_at: token.updated_at.toISOString(),
  impersonation: token.impersonation,
  expire_notification_delivered: false,
  scopes: token.scopes,
  last_used_at: token.last_used_at?.toISOString() ?? null,
  after_expiry_notification_delivered: false,
  previous_personal_access_token_id: token.previous_personal_access_token_id,
  advanced_scopes: null,
  organization_id: 1,
})

/** The job that a token was made for. */
const JobOfToken = t.Object({
  job: t.Object({
    id: t.Integer(),
    name: t.String(),
    stage: t.String(),
    status: t.String(),
    created_at: timestamp(),
    started_at: nullable(timestamp()),
    finished_at: nullable(timestamp()),
    user_id: nullable(t.Integer()),
    pipeline_id: t.Integer(),
    project_id: t.Integer(),
    web_url: t.String(),
  }),
})

export const presentJobOfToken = (
  job: Job,
  { config, project }: Pick<Instance, 'config'> & { readonly project: Pick<Project, 'full_path'> },
): Static<typeof JobOfToken> => ({
  job: {
    id: job.id,
    name: job.name,
    stage: job.stage,
    status: job.status,
    created_at: job.created_at.toISOString(),
    started_at: job.started_at?.toISOString() ?? null,
    finished_at: job.finished_at?.toISOString() ?? null,
    user_id: job.user_id,
    pipeline_id: job.pipeline_id,
    project_id: job.project_id,
    web_url: `${config.url}/${project.full_path}/-/jobs/${job.id}`,
  },
})

/** A token: its own record, or that of its owner. */
export const TokenAnswer = t.Union([TokenRecord, TriggerToken, Runner, JobOfToken, DeployToken])
