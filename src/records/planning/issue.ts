import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import { showsEpic } from '../../core/sight/noteables.ts'
import { issueIfSeen } from '../../core/sight/callers.ts'
import { date, nullable, moment } from '../../http/params/schema.ts'
import type { Issue as IssueColumns } from '../../db/schema/planning.ts'
import { Iteration, iterationJson, presentIteration, type IterationShown } from './iteration.ts'
import { Milestone, milestoneJson, presentMilestone, type MilestoneShown } from './milestone.ts'
import {
  Labels,
  TaskCompletion,
  TimeStats,
  countTasks,
  labelsJson,
  presentLabels,
  presentTime,
  usersJson,
  type Around,
  type LabelShown,
} from '../conversation/noteable.ts'
import { References, referencesOf } from '../conversation/references.ts'
import { UserBasic, authorJson, presentUser, type Author } from '../people/user.ts'

const EpicOfIssue = t.Object({
  id: t.Integer(),
  iid: t.Integer(),
  title: t.String(),
  url: t.String(),
  group_id: t.Integer(),
  human_readable_end_date: nullable(t.String()),
  human_readable_timestamp: nullable(t.String()),
})

/** An issue as lists and single answers show it. */
export const Issue = t.Object({
  id: t.Integer(),
  iid: t.Integer(),
  project_id: t.Integer(),
  title: t.String(),
  description: nullable(t.String()),
  state: t.String(),
  created_at: moment(),
  updated_at: moment(),
  closed_at: nullable(moment()),
  closed_by: nullable(UserBasic),
  labels: Labels,
  milestone: nullable(Milestone),
  assignees: t.Array(UserBasic),
  author: nullable(UserBasic),
  type: t.String(),
  assignee: nullable(UserBasic),
  user_notes_count: t.Integer(),
  merge_requests_count: t.Integer(),
  upvotes: t.Integer(),
  downvotes: t.Integer(),
  due_date: nullable(date()),
  confidential: t.Boolean(),
  discussion_locked: nullable(t.Boolean()),
  issue_type: t.String(),
  web_url: t.String(),
  time_stats: TimeStats,
  task_completion_status: TaskCompletion,
  weight: nullable(t.Integer()),
  blocking_issues_count: t.Integer(),
  has_tasks: t.Boolean(),
  task_status: t.Optional(t.String()),
  _links: t.Object({
    self: t.String(),
    notes: t.String(),
    award_emoji: t.String(),
    project: t.String(),
    closed_as_duplicate_of: nullable(t.String()),
  }),
  references: References,
  severity: t.String(),
  // In single answers only.
  subscribed: t.Optional(t.Boolean()),
  moved_to_id: nullable(t.Integer()),
  imported: t.Boolean(),
  imported_from: t.String(),
  service_desk_reply_to: nullable(t.String()),
  epic_iid: nullable(t.Integer()),
  epic: nullable(EpicOfIssue),
  iteration: nullable(Iteration),
  health_status: nullable(t.String()),
})

interface EpicShown {
  readonly id: number
  readonly iid: number
  readonly title: string
  readonly group_id: number
  readonly due_date: string | null
  readonly full_path: string
}

/** An issue with all that its answers show. */
export type IssueShown = IssueColumns & {
  readonly project_path: string
  readonly author: Author | null
  readonly closed_by: Author | null
  readonly assignees: Author[]
  readonly labels: LabelShown[]
  readonly milestone: MilestoneShown | null
  readonly iteration: IterationShown | null
  readonly epic: EpicShown | null
  /** The issue it moved to, where the viewer sees that. */
  readonly moved_to: number | null
  readonly subscribed?: boolean
}

/** Whether a user hears of what happens to the issue `i`: as set, or by having a part in it. */
const isSubscribed = (userId: RawBuilder<unknown>): RawBuilder<boolean> => sql`coalesce(
  (select s.subscribed from noteable_subscriptions s where s.noteable_id = i.id and s.user_id = ${userId}),
  i.author_id = ${userId}
    or exists (select from issue_assignees a where a.issue_id = i.id and a.user_id = ${userId})
    or exists (select from notes t where t.noteable_id = i.id and t.author_id = ${userId} and t.system_action is null),
  false)`

/**
 * The issues whose ids `chosen` selects as `id`, in its order, with all that is shown of them: one part of a statement,
 * which looks at nothing but those rows, and at what they moved to. `single` adds whether the viewer hears of them.
 */
export const shownIssues = (
  chosen: RawBuilder<unknown>,
  viewer: RawBuilder<number | null>,
  { single = false }: { readonly single?: boolean } = {},
): RawBuilder<IssueShown> => sql`
  select i.*, p.full_path as project_path,
         ${authorJson(sql`i.author_id`)} as author,
         ${authorJson(sql`i.closed_by_id`)} as closed_by,
         ${usersJson(sql`select a.user_id from issue_assignees a where a.issue_id = i.id`)} as assignees,
         ${labelsJson(sql`i.id`)} as labels,
         ${milestoneJson(sql`i.milestone_id`)} as milestone,
         ${iterationJson(sql`i.iteration_id`)} as iteration,
         (select json_build_object('id', e.id, 'iid', e.iid, 'title', e.title, 'group_id', e.group_id,
                                   'due_date', e.due_date, 'full_path', eg.full_path)
            from epics e join namespaces eg on eg.id = e.group_id
           where e.id = i.epic_id and ${showsEpic(viewer)}) as epic,
         ${issueIfSeen(sql`way.moved_to_id`, viewer)} as moved_to
         ${single ? sql`, ${isSubscribed(viewer)} as subscribed` : sql``}
    from (select c.id, row_number() over () as place from (${chosen}) c) chosen
    join issues i on i.id = chosen.id
    cross join lateral (select i.moved_to_id) way
    join projects p on p.id = i.project_id
   order by chosen.place`

const dayOf = (text: string): string =>
  new Date(`${text}T00:00:00Z`).toLocaleDateString('en', {
    timeZone: 'UTC',
    year: 'numeric',
    month: 'short',
    day: 'numeric',
  })

function presentEpic(row: EpicShown, { config }: Around): Static<typeof EpicOfIssue> {
  return {
    id: row.id,
    iid: row.iid,
    title: row.title,
    url: `${config.url.replace(/^[a-z]+:\/\/[^/]+/, '')}/groups/${row.full_path}/-/epics/${row.iid}`,
    group_id: row.group_id,
    human_readable_end_date: row.due_date === null ? null : dayOf(row.due_date),
    human_readable_timestamp: null,
  }
}

const linksOf = (row: IssueShown, { config }: Around): Static<typeof Issue>['_links'] => {
  const project = `${config.url}/api/v4/projects/${row.project_id}`
  const self = `${project}/issues/${row.iid}`
  return {
    self,
    notes: `${self}/notes`,
    award_emoji: `${self}/award_emoji`,
    project,
    closed_as_duplicate_of: null,
  }
}

const tasksOf = (
  description: string | null,
): Pick<Static<typeof Issue>, 'task_completion_status' | 'has_tasks' | 'task_status'> => {
  const counts = countTasks(description)
  const { count, completed_count: done } = counts
  return {
    task_completion_status: counts,
    has_tasks: count > 0,
    ...(count > 0 && {
      task_status: `${done} of ${count} checklist item${count === 1 ? '' : 's'} completed`,
    }),
  }
}

export function presentIssue(row: IssueShown, around: Around): Static<typeof Issue> {
  const assignees = row.assignees.map((user) => presentUser(user, around))
  return {
    id: row.id,
    iid: row.iid,
    project_id: row.project_id,
    title: row.title,
    description: row.description,
    state: row.state,
    created_at: row.created_at,
    updated_at: row.updated_at,
    closed_at: row.closed_at,
    closed_by: row.closed_by && presentUser(row.closed_by, around),
    labels: presentLabels(row.labels, around.details === true),
    milestone: row.milestone && presentMilestone(row.milestone, around),
    assignees,
    author: row.author && presentUser(row.author, around),
    type: row.issue_type.toUpperCase(),
    assignee: assignees[0] ?? null,
    user_notes_count: row.user_notes_count,
    merge_requests_count: 0,
    upvotes: row.upvotes,
    downvotes: row.downvotes,
    due_date: row.due_date,
    confidential: row.confidential,
    discussion_locked: row.discussion_locked,
    issue_type: row.issue_type,
    web_url: `${around.config.url}/${row.project_path}/-/issues/${row.iid}`,
    time_stats: presentTime(row),
    ...tasksOf(row.description),
    weight: row.weight,
    blocking_issues_count: 0,
    _links: linksOf(row, around),
    references: referencesOf('#', row.iid, row.project_path, around.group),
    severity: (row.issue_type === 'incident' && row.severity ? row.severity : 'unknown').toUpperCase(),
    ...(row.subscribed !== undefined && { subscribed: row.subscribed }),
    moved_to_id: row.moved_to,
    imported: false,
    imported_from: 'none',
    service_desk_reply_to: null,
    epic_iid: row.epic?.iid ?? null,
    epic: row.epic && presentEpic(row.epic, around),
    iteration: row.iteration && presentIteration(row.iteration, around),
    health_status: null,
  }
}
