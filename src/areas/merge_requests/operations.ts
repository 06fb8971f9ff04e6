import { Type as t } from 'typebox'
import { anyone, group, project } from '../../access/gates/gates.ts'
import { mergeRequest } from '../../access/gates/noteable_gates.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { unauthorized } from '../../http/problems.ts'
import { MergeRequest, presentMergeRequest } from '../../records/merge_requests/merge_request.ts'
import { MergeRequestDetail } from '../../records/merge_requests/merge_request_detail.ts'
import { readsMergeRequests, comparedIn } from './gates.ts'
import { listParams, wantedOf } from './lists/params.ts'
import { listIn } from './lists/store.ts'
import { divergedBy, withLiveStatus } from './live_status.ts'
import { presentToCaller } from './showing.ts'
import { showMergeRequest } from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

export * from './approvals/operations.ts'
export * from './approvals/settings.ts'
export * from './merging/auto_merge_operations.ts'
export * from './content/operations.ts'
export * from './create_operations.ts'
export * from './merging/merge_operations.ts'
export * from './people_operations.ts'
export * from './content/pipeline_operations.ts'
export * from './merging/rebase_operations.ts'
export * from './time_operations.ts'
export * from './content/version_operations.ts'
export * from './write_operations.ts'

export const listProjectMergeRequests = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests',
  summary: 'List the merge requests of a project',
  published: true,
  params: t.Object(listParams),
  gates: [project, readsMergeRequests],
  handle: async (ctx) => {
    const { db, actor, project, params, page } = ctx
    const wanted = wantedOf(params, 'all')
    const found = await listIn(db, actor, { place: { in: 'project', ...project }, wanted }, page)
    const details = params.with_labels_details
    return presentPage(found, (row) => presentMergeRequest(row, { ...ctx, details }))
  },
  returns: pageOf(MergeRequest),
})

export const listGroupMergeRequests = operation({
  method: 'GET',
  path: '/groups/:id/merge_requests',
  summary: 'List the merge requests of the projects of a group and its subgroups',
  published: true,
  params: t.Object({
    ...listParams,
    non_archived: t.Boolean({ default: true, description: 'Leave out archived projects' }),
  }),
  gates: [group, anyone],
  handle: async (ctx) => {
    const { config, db, actor, group, params, page } = ctx
    const place = { in: 'group', id: group.id, archived: !params.non_archived } as const
    const found = await listIn(db, actor, { place, wanted: wantedOf(params, 'all') }, page)
    const around = { config, details: params.with_labels_details, group: group.full_path }
    return presentPage(found, (row) => presentMergeRequest(row, around))
  },
  returns: pageOf(MergeRequest),
})

export const listMergeRequests = operation({
  method: 'GET',
  path: '/merge_requests',
  summary: 'List merge requests of all projects; those of the caller by default',
  published: true,
  params: t.Object(listParams),
  gates: [anyone],
  handle: async ({ config, db, actor, params, page }) => {
    // Anonymous callers have no merge requests of their own.
    if (actor === null && params.scope !== 'all') throw unauthorized()
    const wanted = wantedOf(params, 'created_by_me')
    const found = await listIn(db, actor, { place: { in: 'everywhere' }, wanted }, page)
    const around = { config, details: params.with_labels_details, group: null }
    return presentPage(found, (row) => presentMergeRequest(row, around))
  },
  returns: pageOf(MergeRequest),
  refuses: [unauthorized],
})

export const getMergeRequest = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid',
  summary: 'Get a merge request',
  published: true,
  params: t.Object({
    render_html: t.Boolean({ default: false }),
    include_diverged_commits_count: t.Boolean({ default: false }),
    include_rebase_in_progress: t.Boolean({ default: false }),
  }),
  gates: [project, anyone, mergeRequest, comparedIn],
  handle: async (ctx) => {
    const { db, actor, mergeRequest, params } = ctx
    const found = await showMergeRequest(db, { id: mergeRequest.id, user_id: actor?.id ?? null })
    const row = await withLiveStatus(ctx, found)
    const diverged = params.include_diverged_commits_count ? await divergedBy(ctx, row) : undefined
    const rebasing = params.include_rebase_in_progress
    return presentToCaller(ctx, row, { diverged, rebasing })
  },
  returns: MergeRequestDetail,
})
