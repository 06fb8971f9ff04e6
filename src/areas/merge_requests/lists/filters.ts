import { sql, type RawBuilder } from 'kysely'
import { LABEL_CONDITIONS, type LabelValues } from '../../../core/planning/label_filters.ts'
import { reacted } from '../../../core/lists/records.ts'
import type { Visibility } from '../../../db/schema/columns.ts'

/** Filters of a list. Users come as ids or names, texts as patterns. */
export interface FilterValues extends LabelValues {
  readonly state: string
  readonly iids: readonly number[]
  readonly author: number
  readonly author_name: string
  readonly assignee: number
  readonly assignee_names: readonly string[]
  readonly reviewer: number
  readonly reviewer_name: string
  readonly approver: number
  readonly approvers: readonly number[]
  readonly approver_name: string
  readonly approver_names: readonly string[]
  readonly approver_among: readonly number[]
  readonly approver_name_among: readonly string[]
  readonly merge_user: number
  readonly merge_user_name: string
  readonly environment: string | null
  readonly deployed_after: string | null
  readonly deployed_before: string | null
  readonly milestone: string
  readonly reaction: string
  readonly source_branch: string
  readonly target_branch: string
  readonly source_project: number
  readonly title: string
  readonly description: string
  readonly title_or_description: string
  readonly created_after: string
  readonly created_before: string
  readonly updated_after: string
  readonly updated_before: string
  readonly draft: boolean
}
interface Caller {
  readonly user_id: number | null
  readonly open_to: readonly Visibility[]
}
export type FilterSlots = { readonly [Name in keyof FilterValues]: RawBuilder<FilterValues[Name]> } & {
  readonly [Name in keyof Caller]: RawBuilder<Caller[Name]>
}

type Condition = (p: FilterSlots) => RawBuilder<unknown>

const namedBy = (name: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select u.id from users u where lower(u.username) = lower(${name}))`
const has = (
  table: 'merge_request_assignees' | 'merge_request_reviewers' | 'merge_request_approvals',
  which: RawBuilder<unknown> = sql`true`,
): RawBuilder<unknown> =>
  sql`exists (select from ${sql.table(table)} a where a.merge_request_id = i.id and ${which})`
const assigned = (user: RawBuilder<unknown>): RawBuilder<unknown> =>
  has('merge_request_assignees', sql`a.user_id = ${user}`)
const reviewed = (user: RawBuilder<unknown>): RawBuilder<unknown> =>
  has('merge_request_reviewers', sql`a.user_id = ${user}`)
const approved = (which: RawBuilder<unknown>): RawBuilder<unknown> => has('merge_request_approvals', which)
const inMilestone = (which: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`i.milestone_id in (select s.id from milestones s where ${which})`
/** Texts are searched as far as they are indexed. */
const DESCRIPTION = sql`left(i.description, 8000)`

const CONDITIONS = {
  state: (p) => sql`i.state = ${p.state}`,
  iids: (p) => sql`i.iid = any(${p.iids}::bigint[])`,
  author: (p) => sql`i.author_id = ${p.author}`,
  author_name: (p) => sql`i.author_id = ${namedBy(p.author_name)}`,
  assignee: (p) => assigned(p.assignee),
  assignee_any: () => has('merge_request_assignees'),
  assignee_none: () => sql`not ${has('merge_request_assignees')}`,
  assignee_names: (p) => sql`not exists (
    select from unnest(${p.assignee_names}::text[]) as wanted (name)
     where not ${assigned(namedBy(sql`wanted.name`))})`,
  reviewer: (p) => reviewed(p.reviewer),
  reviewer_any: () => has('merge_request_reviewers'),
  reviewer_none: () => sql`not ${has('merge_request_reviewers')}`,
  reviewer_name: (p) => reviewed(namedBy(p.reviewer_name)),
  approver: (p) => approved(sql`a.user_id = ${p.approver}`),
  approver_any: () => has('merge_request_approvals'),
  approver_none: () => sql`not ${has('merge_request_approvals')}`,
  // The first of several approvers is looked up by index, the others for each of those merge requests.
  approvers: (p) => sql`not exists (
    select from unnest(${p.approvers}::bigint[]) as wanted (id)
     where not ${approved(sql`a.user_id = wanted.id`)})`,
  approver_name: (p) => approved(sql`a.user_id = ${namedBy(p.approver_name)}`),
  approver_names: (p) => sql`not exists (
    select from unnest(${p.approver_names}::text[]) as wanted (name)
     where not ${approved(sql`a.user_id = ${namedBy(sql`wanted.name`)}`)})`,
  approver_among: (p) => approved(sql`a.user_id = any(${p.approver_among}::bigint[])`),
  approver_name_among: (p) =>
    approved(sql`a.user_id in (select u.id from users u where lower(u.username) in (
      select lower(name) from unnest(${p.approver_name_among}::text[]) name))`),
  merge_user: (p) => sql`i.merged_by_id = ${p.merge_user}`,
  merge_user_name: (p) => sql`i.merged_by_id = ${namedBy(p.merge_user_name)}`,
  // One deployment fulfils all that is asked of it.
  deployed: (p) => sql`exists (
    select from deployment_merge_requests l join deployments d on d.id = l.deployment_id
      join environments e on e.id = d.environment_id
     where l.merge_request_id = i.id and d.status = 'success'
       and (${p.environment}::text is null or e.name = ${p.environment})
       and (${p.deployed_after}::timestamptz is null or d.finished_at >= ${p.deployed_after}::timestamptz)
       and (${p.deployed_before}::timestamptz is null or d.finished_at < ${p.deployed_before}::timestamptz))`,
  milestone: (p) => inMilestone(sql`s.title = ${p.milestone}`),
  milestone_any: () => sql`i.milestone_id is not null`,
  milestone_none: () => sql`i.milestone_id is null`,
  milestone_upcoming: () =>
    inMilestone(sql`s.state = 'active' and coalesce(s.start_date, s.due_date) > today()`),
  milestone_started: () =>
    inMilestone(
      sql`s.state = 'active' and s.start_date <= today() and (s.due_date is null or s.due_date >= today())`,
    ),
  ...LABEL_CONDITIONS,
  reaction: (p) => reacted(p.user_id, sql`e.name = ${p.reaction}`),
  reaction_any: (p) => reacted(p.user_id),
  reaction_none: (p) => sql`not ${reacted(p.user_id)}`,
  source_branch: (p) => sql`i.source_branch = ${p.source_branch}`,
  target_branch: (p) => sql`i.target_branch = ${p.target_branch}`,
  source_project: (p) => sql`i.source_project_id = ${p.source_project}`,
  title: (p) => sql`i.title ilike ${p.title}`,
  description: (p) => sql`${DESCRIPTION} ilike ${p.description}`,
  title_or_description: (p) =>
    sql`(i.title ilike ${p.title_or_description} or ${DESCRIPTION} ilike ${p.title_or_description})`,
  created_after: (p) => sql`i.created_at >= ${p.created_after}::timestamptz`,
  created_before: (p) => sql`i.created_at <= ${p.created_before}::timestamptz`,
  updated_after: (p) => sql`i.updated_at >= ${p.updated_after}::timestamptz`,
  updated_before: (p) => sql`i.updated_at <= ${p.updated_before}::timestamptz`,
  draft: (p) => sql`i.draft = ${p.draft}`,
  created_by_me: (p) => sql`i.author_id = ${p.user_id}`,
  assigned_to_me: (p) => assigned(p.user_id),
  reviews_for_me: (p) => reviewed(p.user_id),
} satisfies Record<string, Condition>

export type Filter = keyof typeof CONDITIONS
/** A filter, or the same turned round. */
export type Turnable = Filter | `not_${Filter}`

const isFilter = (name: Turnable): name is Filter => name in CONDITIONS

/** A condition; the values of one that is turned round stand in slots of their own. */
export function conditionOf(name: Turnable, p: FilterSlots): RawBuilder<unknown> {
  if (isFilter(name)) return CONDITIONS[name](p)
  const slots = new Proxy(p, {
    get: (_, slot) => Reflect.get(p, slot === 'user_id' || slot === 'open_to' ? slot : `not_${String(slot)}`),
  })
  return sql`(${CONDITIONS[name.slice('not_'.length) as Filter](slots)}) is not true`
}
