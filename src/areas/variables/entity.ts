import { Type as t, type Static } from 'typebox'
import type { CiVariable } from '../../db/schema/ci_variables.ts'
import { nullable, oneOf } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'

export const VARIABLE_TYPES = ['env_var', 'file'] as const

export const InstanceVariable = t.Object({
  variable_type: oneOf(VARIABLE_TYPES),
  key: t.String(),
  value: nullable(t.String()),
  protected: t.Boolean(),
  masked: t.Boolean(),
  raw: t.Boolean(),
  description: nullable(t.String()),
})
/** A variable of a project or group: `value` is null where it is hidden. */
export const Variable = t.Object({
  ...InstanceVariable.properties,
  hidden: t.Boolean(),
  environment_scope: t.String(),
})

type Site = Pick<Instance, 'vault'>

export const presentInstance = (row: CiVariable, { vault }: Site): Static<typeof InstanceVariable> => ({
  variable_type: row.variable_type,
  key: row.key,
  value: row.hidden ? null : vault.open(row.sealed_value),
  protected: row.protected,
  masked: row.masked,
  raw: row.raw,
  description: row.description,
})
export const present = (row: CiVariable, site: Site): Static<typeof Variable> => ({
  ...presentInstance(row, site),
  hidden: row.hidden,
  environment_scope: row.environment_scope,
})
