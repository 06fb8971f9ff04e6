import { Type as t, type Static } from 'typebox'
import { anyone, project } from '../../../access/gates/gates.ts'
import { mergeRequest } from '../../../access/gates/noteable_gates.ts'
import type { MergeRequest as Row } from '../../../db/schema/planning.ts'
import { loads, type Has } from '../../../http/gate.ts'
import { operation, pageOf } from '../../../http/operation.ts'
import { moment } from '../../../http/params/schema.ts'
import { Commit, presentCommit } from '../../../records/repositories/commit.ts'
import { Diff, presentPatch } from '../../../records/repositories/patch.ts'
import { findVersion, listVersions, type Version } from './store.ts'
import { commitsOf, patchOf } from './contents.ts'
import { comparedIn } from '../gates.ts'
import { presentPage } from '../../../http/answers/pages.ts'

const unidiff = t.Boolean({ default: false, description: 'With the names of the files before the hunks' })
const versionRecord = {
  id: t.Integer(),
  head_commit_sha: t.String(),
  base_commit_sha: t.String(),
  start_commit_sha: t.String(),
  created_at: moment(),
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
  created_at: row.created_at,
  merge_request_id: row.merge_request_id,
  state: 'collected',
  real_size: row.changes_count,
  patch_id_sha: null,
})

export const listMergeRequestVersions = operation({
  method: 'GET',
  path: '/projects/:id/merge_requests/:merge_request_iid/versions',
  summary: 'List the diff versions of a merge request, newest first',
  published: true,
  gates: [project, anyone, mergeRequest],
  handle: async ({ db, mergeRequest, page }) => {
    const found = await listVersions(db, mergeRequest.id, page)
    return presentPage(found, presentVersion)
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
  summary: 'Get a diff version of a merge request, with its commits and diffs',
  published: true,
  params: t.Object({ unidiff }),
  gates: [project, anyone, mergeRequest, comparedIn, version],
  handle: async (ctx) => {
    const { repository, project, version, params } = ctx
    const [commits, patch] = await Promise.all([
      commitsOf(repository, version, { offset: 0, limit: MOST_COMMITS }),
      patchOf(repository, version),
    ])
    return {
      ...presentVersion(version),
      commits: commits.map((one) => presentCommit(one, project, ctx)),
      diffs: patch.files.map((file) => presentPatch(file, params.unidiff)),
    }
  },
  returns: t.Object({ ...versionRecord, commits: t.Array(Commit), diffs: t.Array(Diff) }),
})
