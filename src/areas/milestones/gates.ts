import { Type as t } from 'typebox'
import { hasFeature } from '../../core/places/project_features.ts'
import type { Group } from '../../core/places/groups.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import { loads, type Actor, type Allows, type Gate, type Has } from '../../http/gate.ts'
import { forbidden, noSuchRecord } from '../../http/problems.ts'
import { findGroup } from './promotion_store.ts'
import { findMilestone, type Home } from './store.ts'

/** Milestones are there for issues and merge requests: without both a project has none. */
export const inProject: Allows<{ project: Project }, { home: Home }> = {
  kind: 'allows',
  says: 'the right to read issues or merge requests of the project',
  refuses: forbidden,
  pass: ({ actor, project }) =>
    hasFeature(actor, project, 'issues') || hasFeature(actor, project, 'merge_requests')
      ? { home: { kind: 'project', id: project.id, line: project.traversal_ids } }
      : undefined,
}

export const inGroup: Gate<'checks', never, { group: Group }, { home: Home }> = {
  kind: 'checks',
  says: 'a group',
  refuses: noSuchRecord,
  pass: ({ group }) => ({ home: { kind: 'group', id: group.id, line: group.traversal_ids } }),
}

export const milestone = loads({
  param: 'milestone_id',
  type: t.Integer({ description: 'The id of the milestone, not its iid' }),
  as: 'milestone',
  says: 'a milestone of the project or group itself, not inherited',
  find: ({ db, home }: Has<{ home: Home }>, id) => findMilestone(db, home, id),
})

/** A personal namespace has no milestones, so nobody may there. */
export const groupToPromoteTo: Allows<{ project: Project; actor: Actor }, { promotesTo: Home }> = {
  kind: 'allows',
  says: 'at least Planner in the group that the project is in',
  refuses: forbidden,
  pass: async ({ db, actor, project }) => {
    const group = await findGroup(db, actor.id, project.namespace_id)
    return group && (actor.admin || group.role >= ROLES.planner) ? { promotesTo: group.home } : undefined
  },
}
