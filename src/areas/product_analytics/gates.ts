import { Type as t } from 'typebox'
import { flag } from '../../access/flags.ts'
import { projectEvenArchived, signedIn } from '../../access/gates/gates.ts'
import { analyticsApiKey } from '../../access/secret_settings.ts'
import { licensed, plans } from '../../access/tiers.ts'
import { levelOf } from '../../core/sight/project_settings.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES, ROLE_NAMES } from '../../core/sight/roles.ts'
import { allows, checks, type Actor, type Gate, type Has } from '../../http/gate.ts'
import { Problem, badParams } from '../../http/problems.ts'
import { findNamespaceKind } from './store.ts'

const notEnabled = (): Problem => new Problem(404, { message: 'Product Analytics is not enabled' })
const accessDenied = (): Problem => new Problem(401, { message: 'Access Denied' })

/** The published interface takes a project's id here, and no path. */
const projectId: Gate<'checks', 'id', object, object> = {
  kind: 'checks',
  param: 'id',
  type: t.String(),
  says: "the project's id, not its path",
  refuses: () => badParams(['project_id is invalid']),
  pass: (_ctx, ref: string) => (/^\d+$/.test(ref) ? {} : undefined),
}

const engineConfigured = checks({
  says: 'an analytics engine in the settings of the instance',
  refuses: notEnabled,
  holds: (ctx) => ctx.settings.get('analytics_api_base_url') !== '' && analyticsApiKey(ctx) !== '',
})

/** A project of a group, whose analytics are not switched off. */
const analyticsOn: Gate<'checks', never, { project: Project }, object> = {
  kind: 'checks',
  says: 'analytics enabled, in a project of a group',
  refuses: notEnabled,
  pass: async ({ db, project }) => {
    if (levelOf(project, 'analytics') === 'disabled') return undefined
    return (await findNamespaceKind(db, project.namespace_id)) === 'group' ? {} : undefined
  },
}

const seesDashboards = allows({
  level: ROLES.developer,
  says: `at least ${ROLE_NAMES.get(ROLES.developer)} in the project`,
  refuses: accessDenied,
  holds: ({ actor, project }: Has<{ actor: Actor; project: Project }>) =>
    actor.admin || project.role >= ROLES.developer,
})

export const first = [signedIn, projectId] as const
export const gates = [
  projectEvenArchived,
  licensed('ultimate', notEnabled),
  plans('ultimate', notEnabled).project,
  flag('product_analytics_features', notEnabled),
  engineConfigured,
  analyticsOn,
  seesDashboards,
] as const
