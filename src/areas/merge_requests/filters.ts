import { sql, type RawBuilder } from 'kysely'
import type { Visibility } from '../../db/schema.ts'

/** What a list can be narrowed by. Who is named comes as ids or names, texts as patterns. */
export interface FilterValues {
  readonly state: string
  readonly iids: readonly number[]
  readonly author: number
  readonly author_name: string
  readonly assignee: number
  readonly assignee_names: readonly string[]
  readonly reviewer: number
  readonly reviewer_name: string
  readonly milestone: string
  readonly labels: readonly string[]
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

/** How a list goes through merge requests: by whatever leads to those that match, or with a look at each because many do. */
export type Walk = 'led' | 'each'
type Condition = (p: FilterSlots, walk: Walk) => RawBuilder<unknown>

const there = (walk: Walk, from: RawBuilder<unknown>): RawBuilder<unknown> =>
  walk === 'each' ? sql`coalesce((select true ${from} limit 1), false)` : sql`exists (select ${from})`

const namedBy = (name: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select u.id from users u where lower(u.username) = lower(${name}))`
const has = (
  table: 'merge_request_assignees' | 'merge_request_reviewers',
  user: RawBuilder<unknown>,
  walk: Walk,
): RawBuilder<unknown> =>
  there(walk, sql`from ${sql.table(table)} a where a.merge_request_id = i.id and a.user_id = ${user}`)
const hasAny = (table: 'merge_request_assignees' | 'merge_request_reviewers'): RawBuilder<unknown> =>
  there('each', sql`from ${sql.table(table)} a where a.merge_request_id = i.id`)
const isLabelled = there('each', sql`from label_links k where k.noteable_id = i.id`)
const bears = (title: RawBuilder<unknown>, walk: Walk): RawBuilder<unknown> =>
  there(
    walk,
    sql`from label_links k where k.noteable_id = i.id
         and k.label_id = any(array(select l.id from labels l where l.title = ${title}))`,
  )
const inMilestone = (which: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`i.milestone_id in (select s.id from milestones s where ${which})`
const reacted = (which: RawBuilder<unknown>, p: FilterSlots, walk: Walk): RawBuilder<unknown> =>
  there(walk, sql`from award_emoji e where e.noteable_id = i.id and e.user_id = ${p.user_id} ${which}`)
const both =
  (assignees: 'merge_request_assignees' | 'merge_request_reviewers'): Condition =>
  (p, walk) =>
    has(assignees, p.user_id, walk)

/** A text is found in the part of it that is indexed. */
const DESCRIPTION = sql`left(i.description, 8000)`

const CONDITIONS = {
  state: (p) => sql`i.state = ${p.state}`,
  iids: (p) => sql`i.iid = any(${p.iids}::bigint[])`,
  author: (p) => sql`i.author_id = ${p.author}`,
  author_name: (p) => sql`i.author_id = ${namedBy(p.author_name)}`,
  assignee: (p, walk) => has('merge_request_assignees', p.assignee, walk),
  assignee_any: () => hasAny('merge_request_assignees'),
  assignee_none: () => sql`not ${hasAny('merge_request_assignees')}`,
  assignee_names: (p) => sql`not exists (
    select from unnest(${p.assignee_names}::text[]) as wanted (name)
     where not ${has('merge_request_assignees', namedBy(sql`wanted.name`), 'each')})`,
  reviewer: (p, walk) => has('merge_request_reviewers', p.reviewer, walk),
  reviewer_any: () => hasAny('merge_request_reviewers'),
  reviewer_none: () => sql`not ${hasAny('merge_request_reviewers')}`,
  reviewer_name: (p, walk) => has('merge_request_reviewers', namedBy(p.reviewer_name), walk),
  milestone: (p) => inMilestone(sql`s.title = ${p.milestone}`),
  milestone_any: () => sql`i.milestone_id is not null`,
  milestone_none: () => sql`i.milestone_id is null`,
  milestone_upcoming: () =>
    inMilestone(sql`s.state = 'active' and coalesce(s.start_date, s.due_date) > today()`),
  milestone_started: () =>
    inMilestone(
      sql`s.state = 'active' and s.start_date <= today() and (s.due_date is null or s.due_date >= today())`,
    ),
  // The first is looked up by its index; the others only of what bears it.
  labels: (p, walk) => sql`(${bears(sql`(${p.labels}::text[])[1]`, walk)} and not exists (
    select from unnest((${p.labels}::text[])[2:]) as wanted (title) where not ${bears(sql`wanted.title`, 'each')}))`,
  labels_any: () => isLabelled,
  labels_none: () => sql`not ${isLabelled}`,
  reaction: (p, walk) => reacted(sql`and e.name = ${p.reaction}`, p, walk),
  reaction_any: (p, walk) => reacted(sql``, p, walk),
  reaction_none: (p) => sql`not ${reacted(sql``, p, 'each')}`,
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
  assigned_to_me: both('merge_request_assignees'),
  reviews_for_me: both('merge_request_reviewers'),
} satisfies Record<string, Condition>

export type Filter = keyof typeof CONDITIONS

/** A condition; the values of one that is turned round stand in slots of their own. */
export function conditionOf(
  filter: Filter,
  p: FilterSlots,
  { walk, turned }: { walk: Walk; turned: boolean },
): RawBuilder<unknown> {
  if (!turned) return CONDITIONS[filter](p, walk)
  const slots = new Proxy(p, {
    get: (_, name) => Reflect.get(p, name === 'user_id' || name === 'open_to' ? name : `not_${String(name)}`),
  })
  if (filter === 'labels')
    // None of them, where the list itself asks for all.
    return sql`not exists (select from unnest(${slots.labels}::text[]) as unwanted (title) where ${bears(sql`unwanted.title`, 'each')})`
  return sql`(${CONDITIONS[filter](slots, walk)}) is not true`
}

export const ORDERS = {
  created_at: sql`i.created_at`,
  updated_at: sql`i.updated_at`,
  merged_at: sql`i.merged_at`,
  title: sql`i.title`,
  popularity: sql`i.upvotes`,
  milestone_due: sql`(select s.due_date from milestones s where s.id = i.milestone_id)`,
  label_priority: sql`(
    select min(y.priority) from label_links k
      join label_priorities y on y.label_id = k.label_id and y.project_id = i.project_id where k.noteable_id = i.id)`,
  priority: sql`(
    select min(y.priority) from label_links k
      join label_priorities y on y.label_id = k.label_id and y.project_id = i.project_id where k.noteable_id = i.id)`,
} as const
export type Order = keyof typeof ORDERS
