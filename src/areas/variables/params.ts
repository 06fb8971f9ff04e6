import { Type as t } from 'typebox'
import { nullable, oneOf } from '../../http/params/schema.ts'
import { VARIABLE_TYPES } from './entity.ts'

const common = {
  value: t.Optional(t.String()),
  variable_type: t.Optional(oneOf(VARIABLE_TYPES)),
  protected: t.Optional(t.Boolean({ description: 'Only for pipelines of protected refs' })),
  masked: t.Optional(t.Boolean({ description: 'Hidden in logs' })),
  raw: t.Optional(t.Boolean({ description: 'Not expanded' })),
  description: t.Optional(nullable(t.String())),
}
const scope = t.Optional(t.String({ description: 'Environments that see it, with `*`' }))
const filter = t.Optional(t.Object({ environment_scope: t.Optional(t.String()) }))

/** Parameters of variables with an environment scope: a project's or a group's. */
export const scoped = {
  one: t.Object({ filter }),
  create: t.Object({
    ...common,
    key: t.String(),
    value: t.String(),
    environment_scope: scope,
    masked_and_hidden: t.Optional(t.Boolean({ description: 'Never shown again' })),
  }),
  change: t.Object({ ...common, environment_scope: scope, filter }),
} as const

/** Parameters of variables of the instance. */
export const plain = {
  one: t.Object({}),
  create: t.Object({ ...common, key: t.String(), value: t.String() }),
  change: t.Object(common),
} as const
