import { Type as t } from 'typebox'
import { plans } from '../../core/planning/issue_changes.ts'
import { hasFeature } from '../../core/places/project_features.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { Issue } from '../../db/schema/planning.ts'
import { allows, loads, type Actor, type Allows, type Gate, type Has } from '../../http/gate.ts'
import { forbidden, notFound, unauthorized } from '../../http/problems.ts'
import * as issues from './store.ts'

type InProject = Has<{ project: Project; actor: Actor }>
type OnIssue = Has<{ project: Project; actor: Actor; issue: Issue }>

/** Issues may be open to members alone, or switched off. */
export const createsIssues = allows({
  says: 'the right to read issues of the project; the project is not archived',
  refuses: forbidden,
  holds: ({ actor, project }: InProject) => !project.archived && hasFeature(actor, project, 'issues'),
})

/** Its author, whom it is given to, and Planners. */
export const changesIssue: Gate<'allows', never, { project: Project; actor: Actor; issue: Issue }, object> = {
  kind: 'allows',
  says: 'at least Planner in the project, the author of the issue or one of its assignees',
  refuses: forbidden,
  pass: async (ctx) => {
    const { db, actor, project, issue } = ctx
    if (project.archived) return undefined
    const partOfIt =
      issue.author_id === actor.id || plans(ctx) || (await issues.isAssigned(db, issue.id, actor.id))
    return partOfIt ? {} : undefined
  },
}

/** The right to set parents of an issue. */
export const planner: Allows<{ project: Project; actor: Actor }> = allows({
  level: ROLES.planner,
  says: 'at least Planner in the project',
  refuses: forbidden,
  holds: (ctx: InProject) => !ctx.project.archived && plans(ctx),
})

/** Planners and Owners take issues away; those between them do not, as published. */
export const deletesIssue = allows({
  says: 'a Planner or an Owner of the project',
  refuses: forbidden,
  holds: ({ actor, project }: OnIssue) =>
    !project.archived && (actor.admin || project.role === ROLES.planner || project.role === ROLES.owner),
})

/** Everything that anybody asks for; nobody in particular has issues of their own. */
export const knownOrAll: Gate<'allows', never, { params: { readonly scope?: string } }, object> = {
  kind: 'allows',
  says: 'a signed-in user; anyone with `scope=all`',
  refuses: unauthorized,
  pass: ({ actor, params }) => (actor !== null || params.scope === 'all' ? {} : undefined),
}

export const issueById = loads({
  param: 'id',
  type: t.Integer({ description: 'The id of the issue, which is not its number in the project' }),
  as: 'issue',
  says: 'an issue',
  missing: () => notFound('Issue'),
  find: ({ db }: Has<object>, id) => issues.find(db, id),
})
