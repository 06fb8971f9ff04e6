import { Type as t } from 'typebox'
import { code, commit } from '../../access/gates/code_gates.ts'
import { Diff, patchOf, presentPatch } from '../../records/repositories/patch.ts'
import { operation, pageOf } from '../../http/operation.ts'

export const listCommitDiffs = operation({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/diff',
  summary: 'List the diffs of a commit against its first parent',
  published: true,
  first: code,
  params: t.Object({
    unidiff: t.Boolean({ default: false, description: 'With the names of the files before the hunks' }),
  }),
  gates: [commit],
  handle: async ({ repository, commit, params, page }) => {
    const { files } = await patchOf(repository, commit)
    const some = files.slice(page.offset, page.offset + page.limit)
    return { items: some.map((file) => presentPatch(file, params.unidiff)), total: files.length }
  },
  returns: pageOf(Diff),
})
