import type { AnyOperation, NamedOperation } from '../http/operation.ts'
import * as accessTokens from './access_tokens/operations.ts'
import * as adminToken from './admin_token/operations.ts'
import * as alertReceivers from './alert_receivers/operations.ts'
import * as applicationSettings from './application_settings/operations.ts'
import * as archive from './archive/operations.ts'
import { reactionOperations } from './award_emoji/operations.ts'
import * as badges from './badges/operations.ts'
import * as blobs from './blobs/operations.ts'
import * as branches from './branches/operations.ts'
import * as commitComments from './commit_comments/operations.ts'
import * as commitDiffs from './commit_diffs/operations.ts'
import * as commitSignatures from './commit_signatures/operations.ts'
import * as commits from './commits/operations.ts'
import * as compare from './compare/operations.ts'
import { discussionOperations, noteOperations } from './discussions/operations.ts'
import * as epics from './epics/operations.ts'
import * as errorTracking from './error_tracking/operations.ts'
import * as files from './files/operations.ts'
import * as freezePeriods from './freeze_periods/operations.ts'
import * as groupLabels from './group_labels/operations.ts'
import * as groups from './groups/operations.ts'
import * as invitations from './invitations/operations.ts'
import * as iterations from './iterations/operations.ts'
import * as mergeRequests from './merge_requests/operations.ts'
import * as issues from './issues/operations.ts'
import * as lint from './lint/operations.ts'
import * as members from './members/operations.ts'
import * as metadata from './metadata/operations.ts'
import * as milestones from './milestones/operations.ts'
import * as namespaces from './namespaces/operations.ts'
import * as packages from './packages/operations.ts'
import * as packageProtection from './package_protection/operations.ts'
import * as personalAccessTokens from './personal_access_tokens/operations.ts'
import * as pipelines from './pipelines/operations.ts'
import * as planLimits from './plan_limits/operations.ts'
import * as productAnalytics from './product_analytics/operations.ts'
import * as projectAliases from './project_aliases/operations.ts'
import * as projectLabels from './project_labels/operations.ts'
import * as projects from './projects/operations.ts'
import * as protectedBranches from './protected_branches/operations.ts'
import * as runners from './runners/operations.ts'
import * as snippets from './snippets/operations.ts'
import * as resourceGroups from './resource_groups/operations.ts'
import { resourceEventOperations } from './resource_events/operations.ts'
import * as statuses from './statuses/operations.ts'
import * as submodules from './submodules/operations.ts'
import * as tags from './tags/operations.ts'
import { todoOperations } from './todos/operations.ts'
import * as tree from './tree/operations.ts'
import * as triggers from './triggers/operations.ts'
import * as user from './user/operations.ts'
import * as users from './users/operations.ts'
import * as variables from './variables/operations.ts'
import * as vulnerabilityExports from './vulnerability_exports/operations.ts'

const AREAS: Readonly<Record<string, Readonly<Record<string, AnyOperation>>>> = {
  commits,
  commit_comments: commitComments,
  commit_diffs: commitDiffs,
  commit_signatures: commitSignatures,
  statuses,
  branches,
  tags,
  files,
  tree,
  blobs,
  archive,
  compare,
  submodules,
  protected_branches: protectedBranches,
  award_emoji: reactionOperations,
  discussions: discussionOperations,
  notes: noteOperations,
  namespaces,
  package_protection: packageProtection,
  packages,
  product_analytics: productAnalytics,
  project_aliases: projectAliases,
  plan_limits: planLimits,
  alert_receivers: alertReceivers,
  group_labels: groupLabels,
  groups,
  issues,
  resource_events: resourceEventOperations,
  todos: todoOperations,
  badges,
  freeze_periods: freezePeriods,
  admin_token: adminToken,
  variables,
  lint,
  vulnerability_exports: vulnerabilityExports,
  application_settings: applicationSettings,
  projects,
  project_labels: projectLabels,
  user,
  error_tracking: errorTracking,
  members,
  invitations,
  access_tokens: accessTokens,
  metadata,
  personal_access_tokens: personalAccessTokens,
  merge_requests: mergeRequests,
  snippets,
  users,
  milestones,
  iterations,
  epics,
  pipelines,
  resource_groups: resourceGroups,
  runners,
  triggers,
}

/** Every operation of the service, named by its export. Throws when two bear one name. */
export const operations: readonly NamedOperation[] = Object.entries(AREAS).flatMap(([area, members]) =>
  Object.entries(members).map(([name, operation]) => ({ ...operation, name, area })),
)

const names = new Set(operations.map((operation) => operation.name))
if (names.size !== operations.length) throw new Error('two operations bear one name')
