import { Type as t, type Static } from 'typebox'
import { fitting, mismatch } from '../../access/epic_fit.ts'
import { anyone, group, groupPlanner, signedIn } from '../../access/gates/gates.ts'
import { epic } from '../../access/gates/noteable_gates.ts'
import { premiumOrForbidden, premiumPlanOrForbidden } from '../../access/tiers.ts'
import { ISSUE_IN_THE_OPEN } from '../../core/planning/epic_secrecy.ts'
import { lockEpic } from '../../core/planning/epics.ts'
import { changeIssue, plans } from '../../core/planning/issue_changes.ts'
import type { Epic as EpicRow } from '../../db/schema/planning.ts'
import { allows, loads, type Actor, type Context, type Has } from '../../http/gate.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { conflict, forbidden, type Problem } from '../../http/problems.ts'
import { Issue, presentIssue } from '../../records/planning/issue.ts'
import { Epic, presentEpic } from './entity.ts'
import * as issues from './issue_store.ts'
import type { IssueInPlace } from './issue_store.ts'
import { showEpic } from './store.ts'

/** An issue has one epic at most, so what joins them bears the issue's id. */
const EpicIssue = t.Object({ ...Issue.properties, epic_issue_id: t.Integer() })
const Joined = t.Object({ id: t.Integer(), epic: Epic, issue: Issue })

/** As published, an epic takes issues of any group: whoever plans both may join them. */
const anyIssue = loads({
  param: 'issue_id',
  type: t.Integer({ description: 'The id of the issue, not its iid' }),
  as: 'issue',
  says: 'an issue that the caller can see',
  find: ({ db, actor }: Has<{ actor: Actor }>, id) => issues.findIssue(db, actor, id),
})

const issueOfEpic = loads({
  param: 'issue_id',
  type: t.Integer({ description: 'The `epic_issue_id`' }),
  as: 'issue',
  says: 'an issue of the epic that the caller can see',
  find: async ({ db, actor, epic }: Has<{ actor: Actor; epic: EpicRow }>, id) => {
    const found = await issues.findIssue(db, actor, id)
    return found?.epic_id === epic.id ? found : undefined
  },
})

const inProject = (actor: Actor, issue: IssueInPlace): Parameters<typeof plans>[0] => ({
  actor,
  project: { id: issue.project_id, role: issue.role, traversal_ids: issue.traversal_ids },
})

const plansIssue = allows({
  says: 'at least Planner in the project of the issue',
  refuses: forbidden,
  holds: ({ actor, issue }: Has<{ actor: Actor; issue: IssueInPlace }>) => plans(inProject(actor, issue)),
})

export const listEpicIssues = operation({
  method: 'GET',
  path: '/groups/:id/epics/:epic_iid/issues',
  summary: 'List the issues of an epic',
  published: true,
  first: [premiumOrForbidden],
  gates: [group, premiumPlanOrForbidden.group, anyone, epic],
  handle: async ({ db, actor, epic, group, page, config }) => {
    const found = await issues.listIssues(db, actor, epic.id, page)
    const around = { config, group: group.full_path }
    return {
      ...found,
      items: found.items.map((row) => ({ ...presentIssue(row, around), epic_issue_id: row.id })),
    }
  },
  returns: pageOf(EpicIssue),
})

type Here = Context & { readonly actor: Actor; readonly epic: EpicRow; readonly issue: IssueInPlace }

/** Puts the issue into the epic or takes it out, and tells what both are then. */
async function join(ctx: Here, to: EpicRow | null): Promise<Static<typeof Joined>> {
  const { db, actor, epic, issue, now } = ctx
  await lockEpic(db, epic.id)
  const deed = { db, now, ...inProject(actor, issue) }
  await fitting(changeIssue(deed, issue.id, { epic: to && { by: 'given', value: to.id } }))
  return {
    id: issue.id,
    epic: presentEpic(await showEpic(db, epic.id), ctx),
    issue: presentIssue(await issues.showIssue(db, actor, issue.id), ctx),
  }
}

const alreadyThere = (): Problem => conflict('Issue(s) already assigned')

export const addEpicIssue = operation({
  method: 'POST',
  path: '/groups/:id/epics/:epic_iid/issues/:issue_id',
  summary: 'Add an issue to an epic',
  published: true,
  first: [premiumOrForbidden, signedIn],
  gates: [group, premiumPlanOrForbidden.group, groupPlanner, epic, anyIssue, plansIssue],
  handle: (ctx) => {
    if (ctx.issue.epic_id === ctx.epic.id) throw alreadyThere()
    return join(ctx, ctx.epic)
  },
  returns: Joined,
  refuses: [alreadyThere, mismatch(ISSUE_IN_THE_OPEN)],
})

export const removeEpicIssue = operation({
  method: 'DELETE',
  path: '/groups/:id/epics/:epic_iid/issues/:issue_id',
  summary: 'Remove an issue from an epic',
  published: true,
  first: [premiumOrForbidden, signedIn],
  gates: [group, premiumPlanOrForbidden.group, groupPlanner, epic, issueOfEpic, plansIssue],
  handle: (ctx) => join(ctx, null),
  returns: Joined,
})
