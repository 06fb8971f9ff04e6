import { Readable } from 'node:stream'
import { Type as t } from 'typebox'
import { code, commit } from '../../../access/gates/code_gates.ts'
import { anyone, project } from '../../../access/gates/gates.ts'
import { mergeRequest } from '../../../access/gates/noteable_gates.ts'
import { closedBy } from '../../../core/planning/closing_references.ts'
import { messagesOf } from '../../../core/merge_requests/comparing.ts'
import { repositoryPath } from '../../../core/places/projects.ts'
import { hasFeature } from '../../../core/places/project_features.ts'
import { isGitError } from '../../../git/errors.ts'
import { Download, bytes } from '../../../http/answers/download.ts'
import { operation, pageOf } from '../../../http/operation.ts'
import { tooLarge, type Problem } from '../../../http/problems.ts'
import { Commit, presentCommit } from '../../../records/repositories/commit.ts'
import { Issue, presentIssue } from '../../../records/planning/issue.ts'
import { MergeRequest, presentMergeRequest } from '../../../records/merge_requests/merge_request.ts'
import { MergeRequestDetail } from '../../../records/merge_requests/merge_request_detail.ts'
import { Diff, presentPatch } from '../../../records/repositories/patch.ts'
import { listByCommit, listIssuesAmong, newestVersion } from './store.ts'
import { commitsOf, patchOf } from './contents.ts'
import { readsMergeRequests, comparedIn } from '../gates.ts'
import { withLiveStatus } from '../live_status.ts'
import { presentToCaller } from '../showing.ts'
import { showMergeRequest } from '../store.ts'
import { presentPage } from '../../../http/answers/pages.ts'

const gates = [project, anyone, mergeRequest, comparedIn] as const
export const listMergeRequestCommits = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/commits',
  summary: 'List the commits of a merge request, newest first',
  published: true,
  gates,
  handle: async (ctx) => {
    const version = await newestVersion(ctx.db, ctx.mergeRequest.id)
    const found = version === undefined ? [] : await commitsOf(ctx.repository, version, ctx.page)
    return { items: found.map((one) => presentCommit(one, ctx.project, ctx)), total: undefined }
  },
  returns: pageOf(Commit),
})

const unidiff = t.Boolean({ default: false, description: 'With the names of the files before the hunks' })

export const getMergeRequestChanges = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/changes',
  summary: 'Get a merge request with its diffs (deprecated: list its diffs)',
  deprecated: true,
  published: true,
  params: t.Object({ unidiff, access_raw_diffs: t.Boolean({ default: false }) }),
  gates,
  handle: async (ctx) => {
    const { db, actor, mergeRequest, params, repository } = ctx
    const row = await withLiveStatus(
      ctx,
      await showMergeRequest(db, { id: mergeRequest.id, user_id: actor?.id ?? null }),
    )
    const version = await newestVersion(db, mergeRequest.id)
    const patch = version === undefined ? { files: [], complete: true } : await patchOf(repository, version)
    return {
      ...(await presentToCaller(ctx, row)),
      changes: patch.files.map((file) => presentPatch(file, params.unidiff)),
      overflow: !patch.complete,
    }
  },
  returns: t.Object({
    ...MergeRequestDetail.properties,
    changes: t.Array(Diff),
    overflow: t.Boolean(),
  }),
})

export const listMergeRequestDiffs = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/diffs',
  summary: 'List the diffs of a merge request',
  published: true,
  params: t.Object({ unidiff }),
  gates,
  handle: async ({ db, mergeRequest, params, repository, page }) => {
    const version = await newestVersion(db, mergeRequest.id)
    const files = version === undefined ? [] : (await patchOf(repository, version)).files
    const some = files.slice(page.offset, page.offset + page.limit)
    return { items: some.map((file) => presentPatch(file, params.unidiff)), total: files.length }
  },
  returns: pageOf(Diff),
})

const MOST_RAW_BYTES = 32 * 1024 * 1024
const tooMuch = (): Problem => tooLarge('The difference is too large to be sent raw')

export const getMergeRequestRawDiffs = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/raw_diffs',
  summary: 'Get the raw diff of a merge request',
  published: true,
  gates,
  handle: async ({ db, git, project, mergeRequest }) => {
    const version = await newestVersion(db, mergeRequest.id)
    const options = ['--no-color', '--no-ext-diff', '--no-textconv', '-M', '--end-of-options']
    const text =
      version === undefined
        ? Buffer.alloc(0)
        : await git.spawner
            .run(['diff', ...options, version.base_sha, version.head_sha], {
              gitDirectory: git.directory(repositoryPath(project.id)),
              maxBytes: MOST_RAW_BYTES,
            })
            .catch((error: unknown) => {
              throw isGitError(error, 'too_large') ? tooMuch() : error
            })
    return new Download({ 'content-type': 'text/plain' }, async () => Readable.from([text]))
  },
  returns: bytes(),
  refuses: [tooMuch],
})

export const listMergeRequestClosedIssues = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/closes_issues',
  summary: 'List the issues that a merge request closes when it is merged',
  published: true,
  gates,
  handle: async (ctx) => {
    const { db, actor, project, mergeRequest, repository, page } = ctx
    if (!hasFeature(actor, project, 'issues')) return { items: [], total: 0 }
    const found = await newestVersion(db, mergeRequest.id)
    const messages = found === undefined ? [] : await messagesOf(repository, found)
    const iids = closedBy([mergeRequest.description ?? '', ...messages])
    const issues = await listIssuesAmong(db, actor, { project, iids }, page)
    return presentPage(issues, (row) => presentIssue(row, ctx))
  },
  returns: pageOf(Issue),
})

export const listCommitMergeRequests = operation({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/merge_requests',
  summary: 'List the merge requests of a commit',
  published: true,
  first: code,
  gates: [readsMergeRequests, commit],
  handle: async (ctx) => {
    const found = await listByCommit(ctx.db, { project_id: ctx.project.id, sha: ctx.commit.id }, ctx.page)
    return presentPage(found, (row) => presentMergeRequest(row, ctx))
  },
  returns: pageOf(MergeRequest),
})
