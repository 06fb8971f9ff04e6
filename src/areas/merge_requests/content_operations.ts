import { Readable } from 'node:stream'
import { Type as t, type Static } from 'typebox'
import { code, commit } from '../../access/code_gates.ts'
import { anyone, project } from '../../access/gates.ts'
import { mergeRequest } from '../../access/noteable_gates.ts'
import { closedBy } from '../../core/closing.ts'
import { messagesOf } from '../../core/merge_request_moves.ts'
import { repositoryPath } from '../../core/projects.ts'
import { hasFeature } from '../../core/project_features.ts'
import type { MergeRequest as Row } from '../../db/schema_planning.ts'
import { isGitError } from '../../git/errors.ts'
import type { Patch } from '../../git/objects/patch.ts'
import type { Repository } from '../../git/repository.ts'
import { Download, bytes } from '../../http/download.ts'
import { loads, type Has } from '../../http/gate.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { tooLarge } from '../../http/problems.ts'
import { timestamp } from '../../http/schema.ts'
import { Commit, presentListed } from '../../records/commit.ts'
import { Issue, presentIssue } from '../../records/issue.ts'
import {
  MergeRequest,
  MergeRequestDetail,
  presentMergeRequest,
  presentMergeRequestDetail,
} from '../../records/merge_request.ts'
import { Diff, presentPatch } from '../../records/patch.ts'
import { Pipeline, presentPipeline } from '../../records/pipeline.ts'
import {
  findVersion,
  listByCommit,
  listIssuesAmong,
  listPipelinesOf,
  listVersions,
  newestVersion,
  type Version,
} from './content_store.ts'
import { mayMergeIt, readsMergeRequests, comparedIn } from './gates.ts'
import { lookedAt } from './looking.ts'
import { showMergeRequest } from './store.ts'

const gates = [project, anyone, mergeRequest, comparedIn] as const
type Compared = Pick<Version, 'base_sha' | 'start_sha' | 'head_sha'>

/** What is in the source branch and not in the target, the newest first. */
async function commitsOf(
  repository: Repository,
  { head_sha, start_sha }: Compared,
  { offset, size }: { readonly offset: number; readonly size: number },
): Promise<NonNullable<Awaited<ReturnType<Repository['commit']>>>[]> {
  const query = { from: [head_sha], exclude: [start_sha], skip: offset, limit: size }
  const shas = await repository.log(query)
  const commits = await Promise.all(shas.map((sha) => repository.commit(sha)))
  return commits.filter((one) => one !== undefined)
}

async function patchOf(repository: Repository, { base_sha, head_sha }: Compared): Promise<Patch> {
  const [before, after] = await Promise.all([repository.commit(base_sha), repository.commit(head_sha)])
  if (before === undefined || after === undefined) return { files: [], complete: true }
  return repository.patch(before.tree, after.tree)
}

export const listMergeRequestCommits = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/commits',
  summary: 'List the commits of a merge request, newest first',
  published: true,
  gates,
  handle: async (ctx) => {
    const version = await newestVersion(ctx.db, ctx.mergeRequest.id)
    const found = version === undefined ? [] : await commitsOf(ctx.repository, version, ctx.page)
    return { items: found.map((one) => presentListed(one, ctx.project, ctx)), total: undefined }
  },
  returns: pageOf(Commit),
})

const unidiff = t.Optional(
  t.Boolean({ default: false, description: 'With the names of the files before the hunks' }),
)

export const getMergeRequestChanges = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/changes',
  summary: 'Get a merge request with all that it changes (deprecated: list its differences)',
  published: true,
  params: t.Object({ unidiff, access_raw_diffs: t.Optional(t.Boolean({ default: false })) }),
  gates,
  handle: async (ctx) => {
    const { db, actor, mergeRequest, params, repository } = ctx
    const row = await lookedAt(
      ctx,
      await showMergeRequest(db, { id: mergeRequest.id, user_id: actor?.id ?? null }),
    )
    const version = await newestVersion(db, mergeRequest.id)
    const patch = version === undefined ? { files: [], complete: true } : await patchOf(repository, version)
    return {
      ...presentMergeRequestDetail(row, ctx, { canMerge: await mayMergeIt(ctx) }),
      changes: patch.files.map((file) => presentPatch(file, params.unidiff ?? false)),
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
  summary: 'List what a merge request changes, file by file',
  published: true,
  params: t.Object({ unidiff }),
  gates,
  handle: async ({ db, mergeRequest, params, repository, page }) => {
    const version = await newestVersion(db, mergeRequest.id)
    const files = version === undefined ? [] : (await patchOf(repository, version)).files
    const some = files.slice(page.offset, page.offset + page.size)
    return { items: some.map((file) => presentPatch(file, params.unidiff ?? false)), total: files.length }
  },
  returns: pageOf(Diff),
})

const MOST_RAW_BYTES = 32 * 1024 * 1024
const tooMuch = (): ReturnType<typeof tooLarge> => tooLarge('The difference is too large to be sent raw')

export const getMergeRequestRawDiffs = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/raw_diffs',
  summary: 'Get what a merge request changes as git writes it',
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

const versionRecord = {
  id: t.Integer(),
  head_commit_sha: t.String(),
  base_commit_sha: t.String(),
  start_commit_sha: t.String(),
  created_at: timestamp(),
  merge_request_id: t.Integer(),
  state: t.String(),
  real_size: t.String(),
  patch_id_sha: t.Null(),
}
const DiffVersion = t.Object(versionRecord)

const presentVersion = (row: Version): Static<typeof DiffVersion> => ({
  id: row.id,
  head_commit_sha: row.head_sha,
  base_commit_sha: row.base_sha,
  start_commit_sha: row.start_sha,
  created_at: row.created_at.toISOString(),
  merge_request_id: row.merge_request_id,
  state: 'collected',
  real_size: row.changes_count,
  patch_id_sha: null,
})

export const listMergeRequestVersions = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/versions',
  summary: 'List what a merge request compared each time its branch moved, newest first',
  published: true,
  gates: [project, anyone, mergeRequest],
  handle: async ({ db, mergeRequest, page }) => {
    const found = await listVersions(db, mergeRequest.id, page)
    return { ...found, items: found.items.map(presentVersion) }
  },
  returns: pageOf(DiffVersion),
})

const version = loads({
  param: 'version_id',
  type: t.Integer(),
  as: 'version',
  says: 'a version of the merge request',
  find: ({ db, mergeRequest }: Has<{ mergeRequest: Row }>, id) => findVersion(db, mergeRequest.id, id),
})
const MOST_COMMITS = 1_000

export const getMergeRequestVersion = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/versions/:version_id',
  summary: 'Get what a merge request compared at some time, with its commits and differences',
  published: true,
  params: t.Object({ unidiff }),
  gates: [...gates, version],
  handle: async (ctx) => {
    const { repository, project, version, params } = ctx
    const [commits, patch] = await Promise.all([
      commitsOf(repository, version, { offset: 0, size: MOST_COMMITS }),
      patchOf(repository, version),
    ])
    return {
      ...presentVersion(version),
      commits: commits.map((one) => presentListed(one, project, ctx)),
      diffs: patch.files.map((file) => presentPatch(file, params.unidiff ?? false)),
    }
  },
  returns: t.Object({ ...versionRecord, commits: t.Array(Commit), diffs: t.Array(Diff) }),
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
    return { ...issues, items: issues.items.map((row) => presentIssue(row, ctx)) }
  },
  returns: pageOf(Issue),
})

export const listMergeRequestPipelines = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/pipelines',
  summary: 'List the pipelines of what a merge request compares, newest first',
  published: true,
  gates: [project, anyone, mergeRequest],
  handle: async (ctx) => {
    const { db, project, mergeRequest, page } = ctx
    const found = await listPipelinesOf(db, { id: mergeRequest.id, project_id: project.id }, page)
    return { ...found, items: found.items.map((row) => presentPipeline(row, project, ctx)) }
  },
  returns: pageOf(Pipeline),
})

export const listCommitMergeRequests = operation({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/merge_requests',
  summary: 'List the merge requests that brought a commit',
  published: true,
  first: code,
  gates: [readsMergeRequests, commit],
  handle: async (ctx) => {
    const found = await listByCommit(ctx.db, { project_id: ctx.project.id, sha: ctx.commit.id }, ctx.page)
    return { ...found, items: found.items.map((row) => presentMergeRequest(row, ctx)) }
  },
  returns: pageOf(MergeRequest),
})
