import type { LabelShown, Named } from './parts.ts'

// The parts of the interface's answers that pages read, as any client of the interface would write them down.

export type User = Named & { readonly id: number; readonly state: string }

export interface Project {
  readonly id: number
  readonly name: string
  readonly name_with_namespace: string
  readonly path_with_namespace: string
  readonly description: string | null
  readonly default_branch: string | null
  readonly visibility: string
  readonly archived?: boolean
  readonly topics: readonly string[]
  readonly star_count: number
  readonly forks_count: number
  readonly open_issues_count?: number
  readonly http_url_to_repo?: string
  readonly last_activity_at: string
  readonly empty_repo?: boolean
  readonly namespace: { readonly name: string; readonly full_path: string; readonly kind: string }
}
export interface Group {
  readonly id: number
  readonly name: string
  readonly full_name: string
  readonly full_path: string
  readonly description: string | null
  readonly visibility: string
}
export interface Commit {
  readonly id: string
  readonly short_id: string
  readonly title: string
  readonly message: string
  readonly author_name: string
  readonly author_email: string
  readonly authored_date: string
  readonly committer_name: string
  readonly committed_date: string
  readonly created_at: string
  readonly parent_ids: readonly string[]
  readonly stats?: { readonly additions: number; readonly deletions: number }
  readonly last_pipeline?: Pipeline | null
}
export interface Ref {
  readonly name: string
  readonly commit: Commit
  readonly protected: boolean
  readonly default?: boolean
  readonly merged?: boolean
  readonly message?: string | null
}
export interface Milestone {
  readonly id: number
  readonly iid: number
  readonly project_id?: number | null
  readonly title: string
  readonly description: string | null
  readonly state: string
  readonly start_date: string | null
  readonly due_date: string | null
  readonly expired: boolean
  readonly web_url: string
}
interface Item {
  readonly id: number
  readonly iid: number
  readonly project_id: number
  readonly title: string
  readonly description: string | null
  readonly state: string
  readonly created_at: string
  readonly updated_at: string
  readonly closed_at: string | null
  readonly author: User | null
  readonly assignees: readonly User[]
  readonly labels: readonly LabelShown[]
  readonly milestone: Milestone | null
  readonly user_notes_count: number
  readonly web_url: string
  readonly references: { readonly full: string }
}
export interface Issue extends Item {
  readonly confidential: boolean
  readonly due_date: string | null
  readonly weight?: number | null
  readonly issue_type: string
  readonly time_stats: {
    readonly human_time_estimate: string | null
    readonly human_total_time_spent: string | null
  }
  readonly task_completion_status: { readonly count: number; readonly completed_count: number }
}
export interface MergeRequest extends Item {
  readonly draft: boolean
  readonly source_branch: string
  readonly target_branch: string
  readonly source_project_id: number
  readonly reviewers: readonly User[]
  readonly merged_at: string | null
  readonly merge_user: User | null
  readonly merge_commit_sha: string | null
  readonly detailed_merge_status: string
  readonly has_conflicts: boolean
  readonly sha: string | null
  readonly user?: { readonly can_merge: boolean }
  readonly head_pipeline?: Pipeline | null
}
export interface Note {
  readonly id: number
  readonly body: string
  readonly author: User | null
  readonly created_at: string
  readonly system: boolean
  readonly resolvable?: boolean
  readonly resolved?: boolean
  readonly internal?: boolean
  readonly position?: {
    readonly new_path: string | null
    readonly old_path: string | null
    readonly new_line: number | null
    readonly old_line: number | null
  } | null
}
export interface Discussion {
  readonly id: string
  readonly individual_note: boolean
  readonly notes: readonly Note[]
}
export interface Pipeline {
  readonly id: number
  readonly iid: number
  readonly sha: string
  readonly ref: string
  readonly status: string
  readonly source: string
  readonly name?: string | null
  readonly created_at: string
  readonly updated_at: string
  readonly user?: User | null
  readonly duration?: number | null
  readonly yaml_errors?: string | null
}
export interface Job {
  readonly id: number
  readonly name: string
  readonly stage: string
  readonly status: string
  readonly ref: string
  readonly allow_failure: boolean
  readonly created_at: string
  readonly started_at: string | null
  readonly duration: number | null
  readonly failure_reason?: string | null
  readonly user: User | null
  readonly commit: Commit | null
  readonly pipeline: Pipeline
  readonly tag_list: readonly string[]
  readonly runner: { readonly description: string | null } | null
  readonly artifacts_file?: { readonly filename: string; readonly size: number }
}
