import { Type as t } from 'typebox'
import { ofIssue } from '../../access/conversation_records.ts'
import { fitting, mismatch } from '../../access/epic_fit.ts'
import { anyone, project, signedIn } from '../../access/gates/gates.ts'
import { issue } from '../../access/gates/noteable_gates.ts'
import { nextInProject } from '../../core/values/counters.ts'
import { dateDeed } from '../../core/values/deed_time.ts'
import { ISSUE_IN_THE_OPEN } from '../../core/planning/epic_secrecy.ts'
import { changeIssue, plans, type IssueChange } from '../../core/planning/issue_changes.ts'
import { insertIssue, reserveIid } from '../../core/planning/issue_rows.ts'
import { hearDescription } from '../../core/conversation/mentions.ts'
import { madeConfidential, applyQuickActions, placeOf } from '../../core/quick_actions/apply.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { violates } from '../../db/errors.ts'
import type { Issue as IssueRow } from '../../db/schema/planning.ts'
import type { Actor, Context } from '../../http/gate.ts'
import { LONG_TEXT, nothing, operation } from '../../http/operation.ts'
import { conflict, invalid, type Problem } from '../../http/problems.ts'
import { Issue, presentIssue } from '../../records/planning/issue.ts'
import { changesIssue, createsIssues, deletesIssue } from './gates.ts'
import * as issues from './store.ts'
import { atLeastOne, checkIssue, createParams, planOf, updateParams, wordsOf } from './write_params.ts'

interface Who {
  readonly actor: Actor
  readonly project: Project
}
/** Times and numbers are for those to say who own the project. */
const owns = ({ actor, project }: Who): boolean => actor.admin || project.role === ROLES.owner
/** Members say what their issue is about as they create it, as published; later that takes a Planner. */
const belongs = ({ actor, project }: Who): boolean => actor.admin || project.role >= ROLES.guest

const duplicated = (): Problem => conflict('Duplicated issue')

async function drawIid(db: Db, projectId: number, wanted: number | undefined): Promise<number> {
  if (wanted === undefined) return nextInProject(db, projectId, 'issues')
  await reserveIid(db, projectId, wanted)
  return wanted
}

export const getIssue = operation({
  method: 'GET',
  path: '/projects/:id/issues/:issue_iid',
  summary: 'Get an issue',
  published: true,
  gates: [project, issue, anyone],
  handle: async ({ db, actor, issue, config }) =>
    presentIssue(await issues.show(db, issue.id, actor?.id ?? null), { config }),
  returns: Issue,
})

export const createIssue = operation({
  method: 'POST',
  path: '/projects/:id/issues',
  summary: 'Create an issue',
  published: true,
  takes: LONG_TEXT,
  first: [signedIn],
  params: t.Object(createParams),
  gates: [project, createsIssues],
  handle: async (ctx) => {
    const { db, actor, project, params, config } = ctx
    checkIssue(params)
    const mine = owns(ctx)
    await dateDeed(db, mine ? params.created_at : undefined)
    const made = await insertIssue(db, {
      project_id: project.id,
      iid: await drawIid(db, project.id, mine ? params.iid : undefined),
      author_id: actor.id,
      title: params.title.trim(),
      description: params.description ?? null,
      issue_type: params.issue_type ?? 'issue',
      confidential: params.confidential ?? false,
      created_at: (mine ? params.created_at : undefined) ?? null,
    }).catch((error: unknown) => {
      throw violates(error, 'issues_project_id_iid_key') ? duplicated() : error
    })
    const plan = belongs(ctx) ? planOf(params) : {}
    const change = { ...plan, ...(mine && { updated_at: params.created_at }) }
    await fitting(changeIssue({ ...ctx, quiet: true }, made.id, change))
    const making = { plans: belongs(ctx) }
    const obeyed = await applyQuickActions(
      { ...ctx, making },
      ofIssue(made),
      placeOf(project),
      made.description ?? '',
    )
    await hear(ctx, {
      ...made,
      description: obeyed.text,
      confidential: madeConfidential(obeyed) || made.confidential,
    })
    return presentIssue(await issues.show(db, made.id, actor.id), { config })
  },
  returns: Issue,
  refuses: [duplicated, invalid({ title: ["can't be blank"] }), mismatch(ISSUE_IN_THE_OPEN)],
})

export const updateIssue = operation({
  method: 'PUT',
  path: '/projects/:id/issues/:issue_iid',
  summary: 'Change an issue',
  published: true,
  takes: LONG_TEXT,
  first: [signedIn],
  params: t.Object(updateParams, { atLeastOne }),
  gates: [project, issue, changesIssue],
  handle: async (ctx) => {
    const { db, actor, project, issue, params, config } = ctx
    checkIssue(params)
    const { state_event: event } = params
    await dateDeed(db, owns(ctx) ? params.updated_at : undefined)
    const obeyed = await applyQuickActions(ctx, ofIssue(issue), placeOf(project), params.description ?? '')
    const change: IssueChange = {
      ...wordsOf(params),
      ...(params.description && { description: obeyed.text }),
      ...(event !== undefined && { state: event === 'close' ? 'closed' : 'opened' }),
      ...(plans(ctx) && { ...planOf(params), confidential: params.confidential }),
      ...(owns(ctx) && { updated_at: params.updated_at }),
    }
    await fitting(changeIssue(ctx, issue.id, change))
    const { description = null } = change
    const confidential = change.confidential ?? (madeConfidential(obeyed) || issue.confidential)
    await hear(ctx, { ...issue, description, confidential }, issue.description)
    return presentIssue(await issues.show(db, issue.id, actor.id), { config })
  },
  returns: Issue,
  refuses: [invalid({ title: ["can't be blank"] }), mismatch(ISSUE_IN_THE_OPEN)],
})

export const deleteIssue = operation({
  method: 'DELETE',
  path: '/projects/:id/issues/:issue_iid',
  summary: 'Delete an issue',
  published: true,
  first: [signedIn],
  gates: [project, issue, deletesIssue],
  handle: async ({ db, project, issue }) => {
    await issues.remove(db, project.id, issue.id)
    return null
  },
  returns: nothing,
})

/** Notifies mentioned users and links references of a description. */
const hear = (
  { db, actor, project }: Context & { readonly actor: Actor; readonly project: Project },
  issue: IssueRow,
  before: string | null = '',
): Promise<void> => hearDescription({ db, actor, about: ofIssue(issue), project }, issue.description, before)
