import { Type as t, type Static, type TObject } from 'typebox'
import type { IssueChange } from '../../core/planning/issue_changes.ts'
import { overlong } from '../../core/planning/labelling.ts'
import { isLonger, tooLong } from '../../core/values/lengths.ts'
import { titleFaults } from '../../core/values/titles.ts'
import { badParams, invalid } from '../../http/problems.ts'
import { date, listOf, nullable, oneOf } from '../../http/params/schema.ts'

/** Numbers that references can name; those that follow have room to grow. */
const MOST_IID = 999_999_999

const titles = t.Optional(listOf(t.String({ maxLength: 255 })))
const moment = t.Optional(t.Unsafe<string>({ type: 'string', format: 'date-time' }))

/** Parameters of creation and update. */
const common = {
  description: t.Optional(nullable(t.String())),
  assignee_ids: t.Optional(listOf(t.Integer())),
  assignee_id: t.Optional(
    nullable(t.Integer({ deprecated: true, description: 'Deprecated: use `assignee_ids`' })),
  ),
  milestone_id: t.Optional(nullable(t.Integer({ description: '0 takes it away' }))),
  labels: titles,
  add_labels: titles,
  remove_labels: titles,
  due_date: t.Optional(nullable(date())),
  confidential: t.Optional(t.Boolean()),
  discussion_locked: t.Optional(t.Boolean()),
  issue_type: t.Optional(oneOf(['issue', 'incident', 'test_case', 'task'])),
  weight: t.Optional(nullable(t.Integer({ maximum: 2 ** 31 - 1 }))),
  epic_id: t.Optional(nullable(t.Integer({ description: '0 takes it away' }))),
  epic_iid: t.Optional(nullable(t.Integer({ deprecated: true, description: 'Deprecated: use `epic_id`' }))),
}

export const createParams = {
  title: t.String(),
  ...common,
  created_at: moment,
  iid: t.Optional(t.Integer({ minimum: 1, maximum: MOST_IID, description: 'For administrators and Owners' })),
}

export const updateParams = {
  title: t.Optional(t.String()),
  ...common,
  state_event: t.Optional(oneOf(['reopen', 'close'])),
  updated_at: moment,
}

/** As published, in this order. */
export const atLeastOne = (
  'assignee_id assignee_ids confidential created_at description discussion_locked due_date labels add_labels ' +
  'remove_labels milestone_id state_event title issue_type weight epic_id epic_iid'
).split(' ')

type Given = Partial<Static<TObject<typeof common>>> & { readonly title?: string }

const MAX = { description: 1_000_000, assignees: 200 }

/** Throws what is wrong with the record that this would make. */
export function checkIssue(given: Given): void {
  const { title, description, weight } = given
  const names = overlong(given)
  if ((given.assignee_ids?.length ?? 0) > MAX.assignees) names.push('assignee_ids')
  if (names.length > 0) throw badParams(names.map((name) => `${name} is invalid`))
  const ofTitle = title === undefined ? [] : titleFaults(title.trim())
  const faults = {
    ...(ofTitle.length > 0 && { title: ofTitle }),
    ...(isLonger(description ?? '', MAX.description) && { description: [tooLong(MAX.description)] }),
    ...((weight ?? 0) < 0 && { weight: ['must be greater than or equal to 0'] }),
  }
  if (Object.keys(faults).length > 0) throw invalid(faults)
}

const orNone = (id: number | null | undefined): number | null | undefined => (id === 0 ? null : id)
const epicOf = ({ epic_id, epic_iid }: Given): IssueChange['epic'] => {
  const value = orNone(epic_id === undefined ? epic_iid : epic_id)
  if (value === undefined || value === null) return value
  return { by: epic_id === undefined ? 'iid' : 'id', value }
}
const assigneesOf = ({ assignee_ids, assignee_id }: Given): number[] | undefined => {
  const ids = assignee_ids ?? (assignee_id === undefined ? undefined : [assignee_id ?? 0])
  return ids?.filter((id) => id !== 0)
}

/** Fields for all who may change the issue. */
export const wordsOf = (given: Given): IssueChange => ({
  title: given.title?.trim(),
  description: given.description,
  issue_type: given.issue_type,
})

/** Fields that need Planner; ignored from others, as published. */
export const planOf = (given: Given): IssueChange => ({
  labels: given.labels,
  add_labels: given.add_labels,
  remove_labels: given.remove_labels,
  milestone_id: orNone(given.milestone_id),
  assignee_ids: assigneesOf(given),
  due_date: given.due_date,
  weight: given.weight,
  epic: epicOf(given),
  discussion_locked: given.discussion_locked,
})
