import { Type as t, type Static } from 'typebox'
import { TIERS } from '../../core/delivery/environments.ts'
import type { Environment as Row } from '../../db/schema/delivery.ts'
import { moment, nullable, oneOf } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import {
  EnvironmentBasic,
  EnvironmentDeployment,
  presentEnvironmentBasic,
} from '../../records/jobs/deployment.ts'
import { identityFields, presentIdentity, type ProjectInGroup } from '../../records/places/project.ts'

export const STATES = ['available', 'stopping', 'stopped'] as const

/** The fields that callers write. */
export const fields = {
  external_url: t.Optional(nullable(t.String())),
  tier: t.Optional(oneOf(TIERS)),
}

const own = {
  ...EnvironmentBasic.properties,
  tier: oneOf(TIERS),
  state: oneOf(STATES),
  auto_stop_at: nullable(moment()),
}
export const Environment = t.Object({ ...own, project: t.Object(identityFields) })
export const EnvironmentDetail = t.Object({ ...own, last_deployment: nullable(EnvironmentDeployment) })

export const presentOwn = (row: Row): Omit<Static<typeof EnvironmentDetail>, 'last_deployment'> => ({
  ...presentEnvironmentBasic(row),
  tier: row.tier,
  state: row.state,
  auto_stop_at: row.auto_stop_at,
})

export const present = (
  row: Row,
  project: ProjectInGroup,
  site: Pick<Instance, 'config'>,
): Static<typeof Environment> => ({ ...presentOwn(row), project: presentIdentity(project, site) })
