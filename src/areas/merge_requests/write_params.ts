import { Type as t, type Static } from 'typebox'
import { overlong } from '../../core/planning/labelling.ts'
import type { MergeRequestChange } from '../../core/merge_requests/changes.ts'
import { findTwin, type NewMergeRequest } from '../../core/merge_requests/writes.ts'
import type { Project } from '../../core/places/projects.ts'
import { titleFaults } from '../../core/values/titles.ts'
import type { Db } from '../../db/db.ts'
import { violates } from '../../db/errors.ts'
import type { MergeRequest as Row } from '../../db/schema/planning.ts'
import type { Actor, Has } from '../../http/gate.ts'
import { badParams, conflict, invalid, unprocessable, type Problem } from '../../http/problems.ts'
import { listOf, nullable } from '../../http/params/schema.ts'
import type { MergeRequestDetail } from '../../records/merge_requests/merge_request_detail.ts'
import { presentToCaller } from './showing.ts'
import { showMergeRequest } from './store.ts'

// Parameters of creation and update.

const description = t.Optional(nullable(t.String({ maxLength: 1_000_000 })))
const people = t.Optional(listOf(t.Integer()))
export const common = {
  title: t.String(),
  description,
  assignee_id: t.Optional(nullable(t.Integer())),
  assignee_ids: people,
  reviewer_ids: people,
  labels: t.Optional(listOf(t.String())),
  milestone_id: t.Optional(nullable(t.Integer())),
  remove_source_branch: t.Optional(t.Boolean()),
  squash: t.Optional(t.Boolean()),
  allow_collaboration: t.Optional(
    t.Boolean({ description: 'Of a fork: whoever may merge it may push into its branch' }),
  ),
  allow_maintainer_to_push: t.Optional(t.Boolean({ description: 'The same by its older name' })),
}
type Given = Partial<Static<ReturnType<typeof t.Object<typeof common>>>>

/** More users than this have no part in one. */
const MOST_PEOPLE = 200

/** 0 stands for nobody. */
const idsOf = (given: readonly number[] | undefined): number[] | undefined =>
  given?.filter((id) => id > 0).slice(0, MOST_PEOPLE)

/** Fields for managers of merge requests; ignored from others, as published. */
export const managed = (given: Given): MergeRequestChange => ({
  assignee_ids: idsOf(
    given.assignee_ids ?? (given.assignee_id === undefined ? undefined : [given.assignee_id ?? 0]),
  ),
  reviewer_ids: idsOf(given.reviewer_ids),
  labels: given.labels,
  milestone_id: given.milestone_id === 0 ? null : given.milestone_id,
})

/** Whether whoever may merge it may push into its branch, if that was said. */
export const collaborates = (given: Given): boolean | undefined =>
  given.allow_collaboration ?? given.allow_maintainer_to_push

export const checkTitle = (title: string | undefined): void => {
  const faults = title === undefined ? [] : titleFaults(title.trim())
  if (faults.length > 0) throw invalid({ title: faults })
}

/** Throws 400 for more labels than anybody names at once. */
export function checkLabels(given: {
  labels?: string[]
  add_labels?: string[]
  remove_labels?: string[]
}): void {
  const names = overlong(given)
  if (names.length > 0) throw badParams(names.map((name) => `${name} is invalid`))
}

export const sameBranch = (): Problem =>
  unprocessable(["You can't use same project/branch for source and target"])
export const noSuchBranch = (which: 'Source' | 'Target', branch: string): Problem =>
  unprocessable([`${which} branch "${branch}" does not exist`])
export const anotherOne = (iid: number): Problem =>
  conflict([`Another open merge request already exists for this source branch: !${iid}`])

/** The constraint on open merge requests of the same branches. */
export async function twinOf(db: Db, error: unknown, row: NewMergeRequest | Row): Promise<unknown> {
  if (!violates(error, 'merge_requests_open_key')) return error
  const { project_id, source_project_id, source_branch, target_branch } = row
  const iid = await findTwin(db, {
    project_id,
    source_project_id: source_project_id ?? 0,
    source_branch,
    target_branch,
  })
  return anotherOne(iid ?? 0)
}

export type Here = Has<{ project: Project; actor: Actor }>

export async function answerWith(
  ctx: Here,
  db: Db,
  mergeRequest: Row,
): Promise<Static<typeof MergeRequestDetail>> {
  const row = await showMergeRequest(db, { id: mergeRequest.id, user_id: ctx.actor.id })
  return presentToCaller({ ...ctx, db }, row)
}
