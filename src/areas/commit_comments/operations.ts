import { Type as t } from 'typebox'
import { code, commit, signedInHere } from '../../access/code_gates.ts'
import { patchOf } from '../../records/patch.ts'
import type { Commit } from '../../git/objects/commit.ts'
import type { Repository } from '../../git/repository.ts'
import { operation, pageOf } from '../../http/operation.ts'
import { badParams, refused } from '../../http/problems.ts'
import { oneOf } from '../../http/schema.ts'
import { CommitComment, present } from './entity.ts'
import { changesLine, type Side } from './rules.ts'
import * as comments from './store.ts'

export const listCommitComments = operation({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/comments',
  summary: 'List the comments on a commit, oldest first',
  published: true,
  first: code,
  gates: [commit],
  handle: async (ctx) => {
    const { db, project, commit, page } = ctx
    const values = { project_id: project.id, sha: commit.id, limit: page.size, offset: page.offset }
    const { items, total } = await comments.listComments(db, values)
    return { items: items.map((row) => present(row, ctx)), total }
  },
  returns: pageOf(CommitComment),
})

/** The most characters of a comment, as published. */
const LONGEST = 1_000_000

const blank = (): ReturnType<typeof refused> => refused(`Failed to save note {:note=>["can't be blank"]}`)
const tooLong = (): ReturnType<typeof refused> =>
  refused(`Failed to save note {:note=>["is too long (maximum is ${LONGEST} characters)"]}`)

export const createCommitComment = operation({
  method: 'POST',
  path: '/projects/:id/repository/commits/:sha/comments',
  summary: 'Comment on a commit, or on a line that it changes',
  published: true,
  first: [...code, signedInHere],
  params: t.Object({
    note: t.String(),
    path: t.Optional(t.String({ description: 'The file, by its new path' })),
    line: t.Optional(t.Integer()),
    line_type: t.Optional(oneOf(['new', 'old'], { default: 'new' })),
  }),
  gates: [commit],
  handle: async (ctx) => {
    const { db, project, commit, actor, params, repository } = ctx
    const { note, path = '', line } = params
    if (path !== '' && line === undefined) throw badParams(['line is missing'])
    if (note.trim() === '') throw blank()
    if (note.length > LONGEST) throw tooLong()
    const at = { path, line: line ?? 0, side: params.line_type ?? 'new' }
    const placed = path !== '' && (await isChanged(repository, commit, at))
    const row = await comments.insertComment(db, {
      project_id: project.id,
      author_id: actor.id,
      sha: commit.id,
      note,
      path: placed ? at.path : null,
      line: placed ? at.line : null,
      line_type: placed ? at.side : null,
    })
    if (row === undefined) throw new Error('a comment was not written')
    return present(row, ctx)
  },
  returns: CommitComment,
  refuses: [blank, tooLong],
})

/** A comment stands on a line that the commit adds or removes; any other is a comment on the whole commit, as published. */
async function isChanged(
  repository: Repository,
  commit: Commit,
  at: { path: string; line: number; side: Side },
): Promise<boolean> {
  const { files } = await patchOf(repository, commit)
  const file = files.find(({ newPath }) => newPath === at.path)
  return file !== undefined && changesLine(file.diff, at.line, at.side)
}
