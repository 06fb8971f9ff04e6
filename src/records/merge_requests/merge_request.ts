import { sql, type RawBuilder } from 'kysely'
import { Type as t, type Static } from 'typebox'
import { awaitedPipeline, pipelineFault } from '../../core/delivery/head_pipelines.ts'
import type { MergeRequest as MergeRequestColumns } from '../../db/schema/planning.ts'
import { nullable, moment } from '../../http/params/schema.ts'
import { Milestone, milestoneJson, presentMilestone, type MilestoneShown } from '../planning/milestone.ts'
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

/** A merge request as lists show it. */
export const MergeRequest = t.Object({
  id: t.Integer(),
  iid: t.Integer(),
  project_id: t.Integer(),
  title: t.String(),
  description: nullable(t.String()),
  state: t.String(),
  created_at: moment(),
  updated_at: moment(),
  merged_by: nullable(UserBasic),
  merge_user: nullable(UserBasic),
  merged_at: nullable(moment()),
  closed_by: nullable(UserBasic),
  closed_at: nullable(moment()),
  target_branch: t.String(),
  source_branch: t.String(),
  user_notes_count: t.Integer(),
  upvotes: t.Integer(),
  downvotes: t.Integer(),
  author: nullable(UserBasic),
  assignees: t.Array(UserBasic),
  assignee: nullable(UserBasic),
  reviewers: t.Array(UserBasic),
  source_project_id: nullable(t.Integer()),
  target_project_id: t.Integer(),
  labels: Labels,
  draft: t.Boolean(),
  imported: t.Boolean(),
  imported_from: t.String(),
  work_in_progress: t.Boolean(),
  milestone: nullable(Milestone),
  merge_when_pipeline_succeeds: t.Boolean(),
  merge_status: t.String(),
  detailed_merge_status: t.String(),
  merge_after: nullable(moment()),
  sha: nullable(t.String()),
  merge_commit_sha: nullable(t.String()),
  squash_commit_sha: nullable(t.String()),
  discussion_locked: nullable(t.Boolean()),
  should_remove_source_branch: nullable(t.Boolean()),
  force_remove_source_branch: nullable(t.Boolean()),
  allow_collaboration: t.Optional(t.Boolean()),
  allow_maintainer_to_push: t.Optional(t.Boolean()),
  prepared_at: nullable(moment()),
  reference: t.String(),
  references: References,
  web_url: t.String(),
  time_stats: TimeStats,
  squash: t.Boolean(),
  squash_on_merge: t.Boolean(),
  task_completion_status: TaskCompletion,
  has_conflicts: t.Boolean(),
  blocking_discussions_resolved: t.Boolean(),
  approvals_before_merge: nullable(t.Integer()),
})

/** A merge request with all that its answers show. */
export type MergeRequestShown = MergeRequestColumns & {
  readonly project_path: string
  readonly author: Author | null
  /** The user who merged it, or set it to merge when its pipeline succeeds. */
  readonly merge_user: Author | null
  /** Set while it waits to be merged. */
  readonly auto_merge: { readonly should_remove_source_branch: boolean | null } | null
  readonly closed_by: Author | null
  readonly assignees: Author[]
  readonly reviewers: Author[]
  readonly labels: LabelShown[]
  readonly milestone: MilestoneShown | null
  readonly resolved: boolean
  /** Whether the project asks for every thread to be resolved before a merge. */
  readonly needs_resolved: boolean
  /** How the project merges. */
  readonly merge_method: string
  /** Whether the target branch has what the source branch has not, where git was asked; else as last compared. */
  readonly behind?: boolean
  /** The checks that a merge waits for: the state of a pipeline, or `none`; null for nothing. */
  readonly awaited_pipeline: string | null
  readonly diff: {
    readonly base_sha: string
    readonly start_sha: string
    readonly changes_count: string
  } | null
  readonly subscribed?: boolean
}

/** Whether a user hears of what happens to the merge request `m`: as set, or by having a part in it. */
const isSubscribed = (userId: RawBuilder<unknown>): RawBuilder<boolean> => sql`coalesce(
  (select s.subscribed from noteable_subscriptions s where s.noteable_id = m.id and s.user_id = ${userId}),
  m.author_id = ${userId}
    or exists (select from merge_request_assignees a where a.merge_request_id = m.id and a.user_id = ${userId})
    or exists (select from merge_request_reviewers r where r.merge_request_id = m.id and r.user_id = ${userId})
    or exists (select from notes t where t.noteable_id = m.id and t.author_id = ${userId} and t.system_action is null),
  false)`

/**
 * The merge requests whose ids `chosen` selects as `id`, in its order, with all that is shown of them: one part of a
 * statement, which looks at nothing but those rows. `subscriber` adds whether that user hears of them.
 */
export const shownMergeRequests = (
  chosen: RawBuilder<unknown>,
  subscriber?: RawBuilder<unknown>,
): RawBuilder<MergeRequestShown> => sql`
  select m.*, p.full_path as project_path,
         ${authorJson(sql`m.author_id`)} as author,
         ${authorJson(sql`coalesce(m.merged_by_id, w.user_id)`)} as merge_user,
         case when w.id is not null
              then json_build_object('should_remove_source_branch', w.should_remove_source_branch) end as auto_merge,
         ${authorJson(sql`m.closed_by_id`)} as closed_by,
         ${usersJson(sql`select a.user_id from merge_request_assignees a where a.merge_request_id = m.id`)} as assignees,
         ${usersJson(sql`select r.user_id from merge_request_reviewers r where r.merge_request_id = m.id`)} as reviewers,
         ${labelsJson(sql`m.id`)} as labels,
         ${milestoneJson(sql`m.milestone_id`)} as milestone,
         not exists (select from notes o where o.noteable_id = m.id and o.type is not null and o.system_action is null and o.resolved_at is null)
           as resolved,
         coalesce((p.settings->>'only_allow_merge_if_all_discussions_are_resolved')::boolean, false) as needs_resolved,
         coalesce(p.settings->>'merge_method', 'merge') as merge_method,
         case when m.state = 'opened' then ${awaitedPipeline(sql`m.head_sha`)} end as awaited_pipeline,
         (select json_build_object('base_sha', d.base_sha, 'start_sha', d.start_sha, 'changes_count', d.changes_count)
            from merge_request_diffs d where d.merge_request_id = m.id order by d.id desc limit 1) as diff
         ${subscriber ? sql`, ${isSubscribed(subscriber)} as subscribed` : sql``}
    from (select c.id, row_number() over () as place from (${chosen}) c) chosen
    join merge_requests m on m.id = chosen.id
    join projects p on p.id = m.project_id
    left join auto_merges w on w.merge_request_id = m.id and m.state = 'opened'
   order by chosen.place`

/** Why it cannot be merged now, or that it can, in the published words. */
export function mergeStatusOf(row: MergeRequestShown): string {
  if (row.state !== 'opened') return 'not_open'
  if (row.merge_status === 'broken') return 'commits_status'
  if (row.draft) return 'draft_status'
  if (row.needs_resolved && !row.resolved) return 'discussions_not_resolved'
  if (row.merge_status === 'cannot_be_merged') return 'conflict'
  if (row.merge_status !== 'can_be_merged') return 'unchecked'
  if (row.merge_method !== 'merge' && isBehind(row)) return 'need_rebase'
  return pipelineFault(row.awaited_pipeline) ?? 'mergeable'
}

/** All methods but one merge only what stands on the tip of its target. */
const isBehind = ({ behind, diff }: MergeRequestShown): boolean =>
  behind ?? (diff !== null && diff.base_sha !== diff.start_sha)

type Merging = Pick<
  Static<typeof MergeRequest>,
  | 'merge_status'
  | 'detailed_merge_status'
  | 'has_conflicts'
  | 'sha'
  | 'merge_commit_sha'
  | 'squash_commit_sha'
>
const mergingOf = (row: MergeRequestShown): Merging => ({
  merge_status: row.merge_status === 'broken' ? 'cannot_be_merged' : row.merge_status,
  detailed_merge_status: mergeStatusOf(row),
  has_conflicts: row.merge_status === 'cannot_be_merged',
  sha: row.head_sha,
  merge_commit_sha: row.merge_commit_sha,
  squash_commit_sha: row.squash_commit_sha,
})

type People = Pick<
  Static<typeof MergeRequest>,
  'author' | 'assignees' | 'assignee' | 'reviewers' | 'merged_by' | 'merge_user' | 'closed_by'
>
function peopleOf(row: MergeRequestShown, around: Around): People {
  const assignees = row.assignees.map((user) => presentUser(user, around))
  const mergeUser = row.merge_user && presentUser(row.merge_user, around)
  return {
    merged_by: row.merged_by_id === null ? null : mergeUser,
    merge_user: mergeUser,
    closed_by: row.closed_by && presentUser(row.closed_by, around),
    author: row.author && presentUser(row.author, around),
    assignees,
    assignee: assignees[0] ?? null,
    reviewers: row.reviewers.map((user) => presentUser(user, around)),
  }
}

export function presentMergeRequest(row: MergeRequestShown, around: Around): Static<typeof MergeRequest> {
  return {
    id: row.id,
    iid: row.iid,
    project_id: row.project_id,
    title: row.title,
    description: row.description,
    state: row.state,
    created_at: row.created_at,
    updated_at: row.updated_at,
    ...peopleOf(row, around),
    merged_at: row.merged_at,
    closed_at: row.closed_at,
    target_branch: row.target_branch,
    source_branch: row.source_branch,
    user_notes_count: row.user_notes_count,
    upvotes: row.upvotes,
    downvotes: row.downvotes,
    source_project_id: row.source_project_id,
    target_project_id: row.project_id,
    labels: presentLabels(row.labels, around.details === true),
    draft: row.draft,
    imported: false,
    imported_from: 'none',
    work_in_progress: row.draft,
    milestone: row.milestone && presentMilestone(row.milestone, around),
    merge_when_pipeline_succeeds: row.auto_merge !== null,
    ...mergingOf(row),
    merge_after: null,
    discussion_locked: row.discussion_locked || null,
    should_remove_source_branch: row.auto_merge?.should_remove_source_branch ?? null,
    force_remove_source_branch: row.remove_source_branch,
    ...(row.source_project_id !== row.project_id && {
      allow_collaboration: row.allow_collaboration,
      allow_maintainer_to_push: row.allow_collaboration,
    }),
    prepared_at: row.created_at,
    reference: `!${row.iid}`,
    references: referencesOf('!', row.iid, row.project_path, around.group),
    web_url: `${around.config.url}/${row.project_path}/-/merge_requests/${row.iid}`,
    time_stats: presentTime(row),
    squash: row.squash,
    squash_on_merge: row.squash,
    task_completion_status: countTasks(row.description),
    blocking_discussions_resolved: row.resolved,
    approvals_before_merge: null,
  }
}
