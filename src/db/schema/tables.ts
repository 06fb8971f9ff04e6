import type { ColumnType, Generated, Selectable } from 'kysely'
import type { Id, Json, Time, Times, Visibility } from './columns.ts'
import type * as people from './people.ts'
import type { BadgeTable } from './badges.ts'
import type * as ci from './ci.ts'
import type { CiVariableTable } from './ci_variables.ts'
import type { BlobTable } from './blobs.ts'
import type { DeliveryTables } from './delivery.ts'
import type { PackageTables } from './packages.ts'
import type * as label from './labels.ts'
import type * as conversation from './conversation.ts'
import type * as planning from './planning.ts'
import type * as security from './vulnerabilities.ts'
import type {
  CommitKeyTable,
  CommitStatusTable,
  PipelineTable,
  ProjectCounterTable,
  ProtectedBranchTable,
  ProtectedBranchLevelTable,
} from './repositories.ts'

/**
 * The tables, column by column as the migrations make them. Ids are numbers, dates `YYYY-MM-DD`. The table of a record
 * that one area alone reads is declared by its `entity.ts`.
 */
export interface Database extends PackageTables, DeliveryTables {
  users: people.UserTable
  user_emails: people.UserEmailTable
  resource_bots: people.ResourceBotTable
  invitations: people.InvitationTable
  member_promotions: people.MemberPromotionTable
  namespaces: NamespaceTable
  projects: ProjectTable
  project_imports: ProjectImportTable
  members: MemberTable
  group_group_links: GroupGroupLinkTable
  project_group_links: ProjectGroupLinkTable
  grants: GrantView
  personal_access_tokens: PersonalAccessTokenTable
  deploy_tokens: people.DeployTokenTable
  settings: SettingTable
  features: FeatureTable
  labels: label.LabelTable
  label_links: label.LabelLinkTable
  label_subscriptions: label.LabelSubscriptionTable
  noteables: planning.NoteableTable
  issues: planning.IssueTable
  issue_assignees: planning.IssueAssigneeTable
  merge_requests: planning.MergeRequestTable
  merge_request_assignees: planning.MergeRequestAssigneeTable
  merge_request_reviewers: planning.MergeRequestReviewerTable
  merge_request_diffs: planning.MergeRequestDiffTable
  merge_request_merges: planning.MergeRequestMergeTable
  merge_request_approvals: planning.MergeRequestApprovalTable
  snippets: planning.SnippetTable
  snippet_files: planning.SnippetFileTable
  epics: planning.EpicTable
  noteable_commits: conversation.NoteableCommitTable
  discussions: conversation.DiscussionTable
  notes: conversation.NoteTable
  award_emoji: conversation.AwardEmojiTable
  noteable_subscriptions: conversation.NoteableSubscriptionTable
  milestones: planning.MilestoneTable
  iteration_cadences: planning.IterationCadenceTable
  iterations: planning.IterationTable
  resource_label_events: conversation.ResourceLabelEventTable
  resource_state_events: conversation.ResourceStateEventTable
  resource_milestone_events: conversation.ResourceMilestoneEventTable
  resource_weight_events: conversation.ResourceWeightEventTable
  resource_iteration_events: conversation.ResourceIterationEventTable
  todos: conversation.TodoTable
  label_priorities: planning.LabelPriorityTable
  badges: BadgeTable
  blobs: BlobTable
  ci_variables: CiVariableTable
  namespace_counters: planning.NamespaceCounterTable
  project_stars: ProjectStarTable
  project_aliases: ProjectAliasTable
  plan_limits: PlanLimitTable
  commit_keys: CommitKeyTable
  project_counters: ProjectCounterTable
  pipelines: PipelineTable
  commit_statuses: CommitStatusTable
  protected_branches: ProtectedBranchTable
  protected_branch_levels: ProtectedBranchLevelTable
  trigger_tokens: ci.TriggerTokenTable
  resource_groups: ci.ResourceGroupTable
  ci_runners: ci.RunnerTable
  ci_runner_projects: ci.RunnerProjectTable
  ci_runner_managers: ci.RunnerManagerTable
  ci_tag_sets: ci.TagSetTable
  ci_job_specs: ci.JobSpecTable
  ci_jobs: ci.JobTable
  ci_job_artifacts: ci.JobArtifactTable
  vulnerabilities: security.VulnerabilityTable
  vulnerability_transitions: security.VulnerabilityTransitionTable
  security_dashboard_projects: security.SecurityDashboardProjectTable
  vulnerability_exports: security.VulnerabilityExportTable
  security_scans: security.SecurityScanTable
}

interface NamespaceTable extends Times {
  id: Id
  kind: 'group' | 'user'
  parent_id: number | null
  owner_id: number | null
  name: string
  path: string
  full_name: string
  full_path: string
  traversal_ids: number[]
  description: Generated<string>
  visibility: Generated<Visibility>
  avatar_url: string | null
  runners_token: Buffer | null
  repository_storage: Generated<string>
  plan: Generated<string>
  marked_for_deletion_on: string | null
  settings: Json<Record<string, unknown>>
  custom_attributes: Json<Record<string, string>>
}

interface ProjectTable extends Times {
  id: Id
  namespace_id: number
  creator_id: number | null
  name: string
  path: string
  full_path: string
  description: string | null
  visibility: Generated<Visibility>
  archived: Generated<boolean>
  default_branch: string | null
  topics: Generated<string[]>
  avatar_url: string | null
  repository_access_level: Generated<'disabled' | 'private' | 'enabled'>
  settings: Json<Record<string, unknown>>
  custom_attributes: Json<Record<string, string>>
  star_count: Generated<number>
  open_issues_count: Generated<number>
  /** Without the confidential ones. */
  open_public_issues_count: Generated<number>
  repository_size: Generated<number>
  last_activity_at: Time
  forked_from_project_id: number | null
  empty_repo: Generated<boolean>
  /** Null while nobody has looked, '' where there is none. */
  readme_path: string | null
}

interface ProjectImportTable extends Times {
  project_id: number
  status: Generated<'scheduled' | 'started' | 'finished' | 'failed'>
  kind: 'url' | 'fork'
  url: string | null
  source: Buffer | null
  error: string | null
}

interface MemberTable extends Times {
  id: Id
  user_id: number
  namespace_id: number | null
  project_id: number | null
  access_level: number
  expires_at: string | null
  created_by_id: number | null
}

interface GroupGroupLinkTable {
  id: Id
  shared_group_id: number
  shared_with_group_id: number
  group_access: number
  expires_at: string | null
  created_at: Time
}

interface ProjectGroupLinkTable {
  id: Id
  project_id: number
  group_id: number
  group_access: number
  expires_at: string | null
  created_at: Time
}

interface GrantView {
  user_id: number
  namespace_id: number | null
  project_id: number | null
  access_level: number
}

interface PersonalAccessTokenTable extends Times {
  id: Id
  user_id: number
  name: string
  description: string | null
  digest: Buffer
  scopes: string[]
  impersonation: Generated<boolean>
  revoked: Generated<boolean>
  expires_at: string | null
  last_used_at: Date | null
  previous_personal_access_token_id: number | null
}

interface SettingTable {
  name: string
  value: ColumnType<unknown, string, string>
  updated_at: Time
}

interface FeatureTable {
  name: string
  enabled: boolean
  updated_at: Time
}

interface ProjectStarTable {
  user_id: number
  project_id: number
}

interface ProjectAliasTable {
  id: Id
  project_id: number
  name: string
  created_at: Time
}

interface PlanLimitTable {
  plan_name: string
  limits: Json<Record<string, number>>
  updated_at: Time
}

export type User = Selectable<people.UserTable>
export type UserEmail = Selectable<people.UserEmailTable>
export type Invitation = Selectable<people.InvitationTable>
export type Namespace = Selectable<NamespaceTable>
export type Project = Selectable<ProjectTable>
export type ProjectImport = Selectable<ProjectImportTable>
export type Label = Selectable<label.LabelTable>
export type PersonalAccessToken = Selectable<PersonalAccessTokenTable>
export type ProjectAlias = Selectable<ProjectAliasTable>
