import { Type as t, type Static } from 'typebox'
import type { Pipeline as PipelineRow } from '../../db/schema/repositories.ts'
import type { PipelineSchedule as Row, PipelineScheduleVariable } from '../../db/schema/delivery.ts'
import { filled, moment, nullable, oneOf } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { Pipeline, presentPipeline } from '../../records/pipelines/pipeline.ts'
import { UserBasic, presentUser, type Author } from '../../records/people/user.ts'

/** The fields that callers write. */
export const fields = {
  description: t.String({ maxLength: 1_024 }),
  ref: filled(),
  cron: t.String({ description: 'A cron expression of five fields' }),
  cron_timezone: t.String({ default: 'UTC', description: 'An IANA time zone' }),
  active: t.Boolean({ default: true }),
}

export const PipelineSchedule = t.Object({
  id: t.Integer(),
  description: t.String(),
  ref: t.String({ description: 'With `refs/heads/` or `refs/tags/`' }),
  cron: t.String(),
  cron_timezone: t.String(),
  next_run_at: nullable(moment()),
  active: t.Boolean(),
  created_at: moment(),
  updated_at: moment(),
  owner: nullable(UserBasic),
})

export const VARIABLE_TYPES = ['env_var', 'file'] as const

export const ScheduleVariable = t.Object({
  variable_type: oneOf(VARIABLE_TYPES),
  key: t.String(),
  value: t.String(),
  raw: t.Boolean(),
})

export const PipelineScheduleDetail = t.Object({
  ...PipelineSchedule.properties,
  last_pipeline: nullable(Pipeline),
  variables: t.Optional(
    t.Array(ScheduleVariable, { description: 'For the owner and Maintainers of the project' }),
  ),
})

export type ScheduleWithOwner = Row & { readonly owner: Author | null }

export const present = (
  row: ScheduleWithOwner,
  site: Pick<Instance, 'config'>,
): Static<typeof PipelineSchedule> => ({
  id: row.id,
  description: row.description,
  ref: row.ref,
  cron: row.cron,
  cron_timezone: row.cron_timezone,
  next_run_at: row.next_run_at,
  active: row.active,
  created_at: row.created_at,
  updated_at: row.updated_at,
  owner: row.owner && presentUser(row.owner, site),
})

export const presentVariable = (
  { variable_type, key, sealed_value, raw }: PipelineScheduleVariable,
  { vault }: Pick<Instance, 'vault'>,
): Static<typeof ScheduleVariable> => ({ variable_type, key, value: vault.open(sealed_value), raw })

interface Along {
  readonly project: { readonly full_path: string }
  readonly last: PipelineRow | undefined
  /** Undefined for callers who may not read them. */
  readonly variables: readonly PipelineScheduleVariable[] | undefined
}

export const presentDetail = (
  row: ScheduleWithOwner,
  { project, last, variables }: Along,
  site: Pick<Instance, 'config' | 'vault'>,
): Static<typeof PipelineScheduleDetail> => ({
  ...present(row, site),
  last_pipeline: last === undefined ? null : presentPipeline(last, project, site),
  ...(variables && { variables: variables.map((variable) => presentVariable(variable, site)) }),
})
