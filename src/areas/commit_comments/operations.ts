import { Type as t } from 'typebox'
import { existing } from '../../db/rows.ts'
import { code, commit, signedInHere } from '../../access/gates/code_gates.ts'
import { isLonger, tooLong } from '../../core/values/lengths.ts'
import { patchOf } from '../../records/repositories/patch.ts'
import { standsAt, type Side } from '../../core/conversation/diff_lines.ts'
import { commitNoteable } from '../../core/conversation/note_reading.ts'
import { TooMuchSaid, insertThread, withRow } from '../../core/conversation/notes.ts'
import type { Commit } from '../../git/objects/commit.ts'
import { emptyTree } from '../../git/objects/tree_lines.ts'
import type { Repository } from '../../git/repository.ts'
import type { Gate } from '../../http/gate.ts'
import { LONG_TEXT, operation, pageOf } from '../../http/operation.ts'
import { badParams, refused, type Problem } from '../../http/problems.ts'
import { oneOf } from '../../http/params/schema.ts'
import { CommitComment, present } from './entity.ts'
import * as comments from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

export const listCommitComments = operation({
  method: 'GET',
  path: '/projects/:id/repository/commits/:sha/comments',
  summary: 'List the comments on a commit, oldest first',
  published: true,
  first: code,
  gates: [commit],
  handle: async (ctx) => {
    const { db, actor, project, commit, page } = ctx
    const noteable_id = await commitNoteable(db, project.id, commit.id)
    const values = { noteable_id, ...page }
    const reader = { viewer: actor, role: project.role }
    const found = await comments.listComments(db, reader, values)
    return presentPage(found, (row) => present(row, ctx))
  },
  returns: pageOf(CommitComment),
})

/** The most characters of a comment, as published. */
const MAX_NOTE_CHARACTERS = 1_000_000

const blank = (): Problem => refused(`Failed to save note {:note=>["can't be blank"]}`)
const overlong = (): Problem => refused(`Failed to save note {:note=>["${tooLong(MAX_NOTE_CHARACTERS)}"]}`)

const full = (): Problem => refused('Failed to save note {:base=>["Maximum number of comments exceeded"]}')

interface Wanted {
  readonly note: string
  readonly path?: string
  readonly line?: number
  readonly line_type?: Side
}
/** Git is asked before there is a transaction: no connection waits for it. */
const placed: Gate<
  'checks',
  never,
  { repository: Repository; commit: Commit; params: Wanted },
  { position: object | null }
> = {
  kind: 'checks',
  says: 'a comment that can be written',
  refuses: blank,
  pass: async ({ repository, commit, params }) => {
    const { note, path = '', line } = params
    if (path !== '' && line === undefined) throw badParams(['line is missing'])
    if (note.trim() === '') return undefined
    if (isLonger(note, MAX_NOTE_CHARACTERS)) throw overlong()
    const side = params.line_type ?? 'new'
    return {
      position: path === '' ? null : await placeOf(repository, commit, { path, line: line ?? 0, side }),
    }
  },
}

export const createCommitComment = operation({
  method: 'POST',
  path: '/projects/:id/repository/commits/:sha/comments',
  summary: 'Comment on a commit, or on a line that it changes',
  published: true,
  takes: LONG_TEXT,
  first: [...code, signedInHere],
  params: t.Object({
    note: t.String(),
    path: t.Optional(t.String({ description: 'The file, by its new path' })),
    line: t.Optional(t.Integer()),
    line_type: oneOf(['new', 'old'], { default: 'new' }),
  }),
  gates: [commit, placed],
  handle: async (ctx) => {
    const { db, project, commit, actor, params, position } = ctx
    const about = await withRow(db, {
      id: 0,
      kind: 'commit',
      iid: null,
      project_id: project.id,
      group_id: null,
      author_id: null,
      locked: false,
      confidential: false,
      sha: commit.id,
    })
    const { id } = await insertThread(
      db,
      about,
      {
        author_id: actor.id,
        body: params.note,
        created_at: null,
        type: position && 'DiffNote',
        position,
        commit_id: null,
      },
      { individual: position === null, internal: false },
    ).catch((error: unknown) => {
      throw error instanceof TooMuchSaid ? full() : error
    })
    return present(existing(await comments.readComment(db, id)), ctx)
  },
  returns: CommitComment,
  refuses: [overlong, full],
})

/** A comment stands on a line that the commit adds or removes; any other is a comment on the whole commit, as published. */
async function placeOf(
  repository: Repository,
  commit: Commit,
  at: { path: string; line: number; side: Side },
): Promise<object | null> {
  const { files } = await patchOf(repository, commit)
  const file = files.find(({ newPath }) => newPath === at.path)
  if (file === undefined || standsAt(file.diff, at.line, at.side) === undefined) return null
  const base = commit.parents[0] ?? emptyTree
  return {
    base_sha: base,
    start_sha: base,
    head_sha: commit.id,
    position_type: 'text',
    old_path: file.oldPath,
    new_path: file.newPath,
    old_line: at.side === 'old' ? at.line : null,
    new_line: at.side === 'new' ? at.line : null,
    line_range: null,
  }
}
