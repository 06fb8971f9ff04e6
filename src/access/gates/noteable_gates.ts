import { Type as t } from 'typebox'
import type { Group } from '../../core/places/groups.ts'
import { findEpic, findIssue, findMergeRequest, findSnippet } from '../../core/sight/noteables.ts'
import { hasFeature } from '../../core/places/project_features.ts'
import type { Project } from '../../core/places/projects.ts'
import { ROLES, canSee } from '../../core/sight/roles.ts'
import { loads, type Actor, type Has } from '../../http/gate.ts'
import { mayReadCode } from './gates.ts'

type InProject = Has<{ project: Project }>
type InGroup = Has<{ group: Group }>

/** An issue of the project that the caller sees; behind `project`. */
export const issue = loads({
  param: 'issue_iid',
  type: t.Integer(),
  as: 'issue',
  says: 'an issue that the caller can see',
  find: ({ db, actor, project }: InProject, iid) =>
    hasFeature(actor, project, 'issues') ? findIssue(db, actor, project, iid) : undefined,
})

/** A merge request of the project, for whoever may read its code; behind `project`. */
export const mergeRequest = loads({
  param: 'merge_request_iid',
  type: t.Integer(),
  as: 'mergeRequest',
  says: 'a merge request that the caller can see',
  find: ({ db, actor, project }: InProject, iid) =>
    hasFeature(actor, project, 'merge_requests') && mayReadCode(actor, project)
      ? findMergeRequest(db, project, iid)
      : undefined,
})

/** A snippet of the project that the caller sees; behind `project`. */
export const snippet = loads({
  param: 'snippet_id',
  type: t.Integer(),
  as: 'snippet',
  says: 'a snippet that the caller can see',
  find: ({ db, actor, project }: InProject, id) =>
    hasFeature(actor, project, 'snippets') ? findSnippet(db, actor, project, id) : undefined,
})

/** Minimal access shows a group and nothing in it. */
const seesInside = (actor: Actor | null, { visibility, role }: Group): boolean =>
  canSee(actor, visibility, role, ROLES.guest)

/** An epic by its iid, as its own calls name it; behind `group`. */
export const epic = loads({
  param: 'epic_iid',
  type: t.Integer(),
  as: 'epic',
  says: 'an epic that the caller can see',
  find: ({ db, actor, group }: InGroup, value) =>
    seesInside(actor, group) ? findEpic(db, actor, group, { by: 'iid', value }) : undefined,
})

/** An epic by its id, as its discussions name it; behind `group`. */
export const epicById = loads({
  param: 'epic_id',
  type: t.Integer(),
  as: 'epic',
  says: 'an epic that the caller can see',
  find: ({ db, actor, group }: InGroup, value) =>
    seesInside(actor, group) ? findEpic(db, actor, group, { by: 'id', value }) : undefined,
})
