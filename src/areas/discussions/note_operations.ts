import { Type as t } from 'typebox'
import { NOTE_BASES, noteable, onEach } from '../../access/noteable_routes.ts'
import type { Here } from '../../access/conversation_records.ts'
import { signedIn } from '../../access/gates/gates.ts'
import { editsNote, note, canComment } from '../../access/note_permissions.ts'
import { readsInternal } from '../../core/conversation/noteable.ts'
import { deleteNote, insertThread } from '../../core/conversation/notes.ts'
import { LONG_TEXT, nothing, operation, pageOf } from '../../http/operation.ts'
import { forbidden } from '../../http/problems.ts'
import { filled, oneOf } from '../../http/params/schema.ts'
import { Note, presentNote } from '../../records/conversation/note.ts'
import { CommandsOnly, bodyParams, change, notInternal, commentWriting } from './note_writing.ts'
import * as store from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

const listNotes = operation({
  method: 'GET',
  path: '/notes',
  summary: 'List the notes of #',
  published: true,
  first: [signedIn],
  params: t.Object({
    sort: oneOf(['asc', 'desc'], { default: 'desc' }),
    order_by: oneOf(['created_at', 'updated_at'], { default: 'created_at' }),
    activity_filter: oneOf(['all_notes', 'only_comments', 'only_activity'], { default: 'all_notes' }),
  }),
  gates: [noteable],
  handle: async (ctx) => {
    const { db, noteable, reader, params, page } = ctx
    const shape = {
      sort: params.sort,
      by: params.order_by,
      filter: params.activity_filter,
    }
    const at = { ...page }
    const found = await store.listNotes(db, { about: noteable, reader }, shape, at)
    return presentPage(found, (row) => presentNote(row, noteable, ctx))
  },
  returns: pageOf(Note),
})

const getNote = operation({
  method: 'GET',
  path: '/notes/:note_id',
  summary: 'Get a note on #',
  published: true,
  first: [signedIn],
  gates: [noteable, note],
  handle: async (ctx) => presentNote(await store.readNote(ctx.db, ctx.note), ctx.noteable, ctx),
  returns: Note,
})

/** Internal notes need the right to see them; where there are none, the note is refused instead of shown to all. */
function isInternal(here: Here, asked: boolean): boolean {
  if (asked && !readsInternal(here.reader)) throw forbidden()
  if (asked && here.noteable.kind === 'snippet') throw notInternal()
  return asked
}

const createNote = operation({
  method: 'POST',
  path: '/notes',
  summary: 'Comment on #',
  published: true,
  moves: 'rows',
  takes: LONG_TEXT,
  first: [signedIn],
  params: t.Object({
    ...bodyParams,
    internal: t.Boolean({ default: false, description: 'For those from Reporter on' }),
    confidential: t.Optional(t.Boolean({ deprecated: true, description: 'The older name of `internal`' })),
    merge_request_diff_head_sha: t.Optional(t.String()),
  }),
  gates: [noteable, canComment],
  handle: (ctx) => {
    const { params } = ctx
    const internal = isInternal(ctx, params.internal || params.confidential === true)
    return commentWriting.note(ctx, params, {}, (db, about, fresh) =>
      insertThread(db, about, fresh, { individual: true, internal }),
    )
  },
  returns: Note,
  also: { 202: CommandsOnly },
  refuses: [...commentWriting.refuses, notInternal],
})

const updateNote = operation({
  method: 'PUT',
  path: '/notes/:note_id',
  summary: 'Change a note on #',
  published: true,
  moves: 'rows',
  takes: LONG_TEXT,
  first: [signedIn],
  params: t.Object({ body: filled() }),
  gates: [noteable, note, editsNote],
  handle: (ctx) => change(ctx, ctx.note, ctx.params.body),
  returns: Note,
  also: { 202: CommandsOnly },
  refuses: commentWriting.refuses,
})

const removeNote = operation({
  method: 'DELETE',
  path: '/notes/:note_id',
  summary: 'Delete a note on #',
  published: true,
  first: [signedIn],
  gates: [noteable, note, editsNote],
  handle: ({ db, noteable, note }) => deleteNote(db, noteable, note),
  returns: nothing,
})

/** The operations of single comments, on each base. */
export const noteOperations = onEach(NOTE_BASES, {
  'list#Notes': listNotes,
  'get#Note': getNote,
  'create#Note': createNote,
  'update#Note': updateNote,
  'delete#Note': removeNote,
})
