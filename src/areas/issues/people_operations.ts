import { Type as t } from 'typebox'
import { anyone, project, signedIn } from '../../access/gates/gates.ts'
import { issue } from '../../access/gates/noteable_gates.ts'
import { readsInternal } from '../../core/conversation/noteable.ts'
import { nextInProject } from '../../core/values/counters.ts'
import { changeIssue, plans } from '../../core/planning/issue_changes.ts'
import { assigneesOf, insertIssue } from '../../core/planning/issue_rows.ts'
import { hasFeature } from '../../core/places/project_features.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES, canSee } from '../../core/sight/roles.ts'
import { writeSystemNote } from '../../core/conversation/system_notes.ts'
import type { Issue as IssueRow } from '../../db/schema/planning.ts'
import type { Actor, Context } from '../../http/gate.ts'
import { Answer, operation, pageOf } from '../../http/operation.ts'
import { notFound, refused, type Problem } from '../../http/problems.ts'
import { Issue, presentIssue } from '../../records/planning/issue.ts'
import { UserBasic, presentUser } from '../../records/people/user.ts'
import * as issues from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

export const subscribeToIssue = operation({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/subscribe',
  summary: 'Subscribe to an issue',
  published: true,
  first: [signedIn],
  gates: [project, issue],
  handle: async (ctx) => subscribe(ctx, true),
  returns: Issue,
  also: { 304: null },
})

export const unsubscribeFromIssue = operation({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/unsubscribe',
  summary: 'Unsubscribe from an issue',
  published: true,
  first: [signedIn],
  gates: [project, issue],
  handle: async (ctx) => subscribe(ctx, false),
  returns: Issue,
  also: { 304: null },
})

type OnIssue = Context & { readonly actor: Actor; readonly project: Project; readonly issue: IssueRow }

async function subscribe(
  { db, actor, issue, config }: OnIssue,
  wanted: boolean,
): Promise<ReturnType<typeof presentIssue> | Answer> {
  const now = await issues.show(db, issue.id, actor.id)
  if (now.subscribed === wanted) return new Answer(304)
  await issues.setSubscribed(db, issue.id, actor.id, wanted)
  return presentIssue({ ...now, subscribed: wanted }, { config })
}

export const listIssueParticipants = operation({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid/participants',
  summary: 'List the participants of an issue',
  published: true,
  gates: [project, issue, anyone],
  handle: async ({ db, actor, project, issue, page, config }) => {
    const internal = actor?.admin === true || project.role >= ROLES.reporter
    const found = await issues.listParticipants(db, issue.id, internal, {
      ...page,
    })
    return presentPage(found, (user) => presentUser(user, { config }))
  },
  returns: pageOf(UserBasic),
})

const noRight = (): Problem => refused('Cannot move issue due to insufficient permissions!')
const sameProject = (): Problem => refused('Cannot move issue to project it originates from!')
const noProject = (): Problem => notFound('Project')

export const moveIssue = operation({
  method: 'POST',
  path: '/projects/:id/issues/:issue_iid/move',
  summary: 'Move an issue to another project',
  published: true,
  first: [signedIn],
  params: t.Object({ to_project_id: t.Integer() }),
  gates: [project, issue],
  handle: async (ctx) => {
    const { db, actor, project, params, config } = ctx
    const target = await issues.findProject(db, params.to_project_id, actor.id)
    if (!target || !canSee(actor, target.visibility, target.role, ROLES.guest)) throw noProject()
    const goes =
      [project, target].every((one) => !one.archived && plans({ actor, project: one })) &&
      hasFeature(actor, target, 'issues')
    if (!goes) throw noRight()
    if (target.id === project.id) throw sameProject()
    await issues.lockBoth(db, [project.id, target.id])
    const id = await carryOver(ctx, target)
    return presentIssue(await issues.show(db, id, actor.id), { config })
  },
  returns: Issue,
  refuses: [noProject, noRight, sameProject],
})

/** The issue anew in the other project, with what exists there too; the old one closes and says where it went. */
async function carryOver(ctx: OnIssue, target: Project): Promise<number> {
  const { db, actor, project, issue } = ctx
  const made = await insertIssue(db, {
    project_id: target.id,
    iid: await nextInProject(db, target.id, 'issues'),
    author_id: issue.author_id ?? actor.id,
    title: issue.title,
    description: issue.description,
    issue_type: issue.issue_type,
    confidential: issue.confidential,
    created_at: issue.created_at.toISOString(),
  })
  // The other place would show internal notes to callers who cannot read them here.
  const internal = readsInternal({ viewer: actor, role: project.role })
  // The copy is rolled back with the refusal.
  if (!(await issues.markMoved(db, { from: issue.id, to: made.id, internal }))) throw noRight()
  const going = { from: issue.id, project_id: target.id, line: target.traversal_ids }
  await issues.carryOn(db, { ...going, to: made.id })
  await changeIssue({ ...ctx, project: target, quiet: true }, made.id, {
    ...(await issues.timeboxesThere(db, going)),
    labels: await issues.labelTitles(db, issue.id),
    assignee_ids: await assigneesOf(db, issue.id),
    weight: issue.weight,
    due_date: issue.due_date,
  })
  const note = { author_id: actor.id, action: 'moved' }
  const from = `${project.full_path}#${issue.iid}`
  const to = `${target.full_path}#${made.iid}`
  await writeSystemNote(db, {
    ...note,
    noteable_id: made.id,
    body: `moved from ${from}`,
    mentions_project_id: project.id,
    mentions_noteable_id: issue.id,
  })
  await writeSystemNote(db, {
    ...note,
    noteable_id: issue.id,
    body: `moved to ${to}`,
    mentions_project_id: target.id,
    mentions_noteable_id: made.id,
  })
  await changeIssue(ctx, issue.id, { state: 'closed' })
  return made.id
}
