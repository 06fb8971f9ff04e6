import { Type as t } from 'typebox'
import { noteable } from '../../access/noteable_routes.ts'
import type { Here } from '../../access/conversation_records.ts'
import { signedIn } from '../../access/gates/gates.ts'
import {
  discussion,
  editsNote,
  mayEdit,
  mayResolve,
  note,
  canComment,
} from '../../access/note_permissions.ts'
import { deleteNote, insertReply, settleNotes } from '../../core/conversation/notes.ts'
import type { Discussion as DiscussionRow, Note as NoteRow } from '../../db/schema/conversation.ts'
import { allows, checks, type Has } from '../../http/gate.ts'
import { LONG_TEXT, nothing, operation, pageOf } from '../../http/operation.ts'
import { forbidden, noSuchRecord, notFound, refused, type Problem } from '../../http/problems.ts'
import { Note, isResolvable, presentNote } from '../../records/conversation/note.ts'
import { CommandsOnly, bodyParams, change, commentWriting } from './note_writing.ts'
import * as store from './store.ts'
import { presentPage } from '../../http/answers/pages.ts'

/** Authors of notes are subscribed, as published. */
const discussionOfNotes = { ...discussion, refuses: () => notFound('Notes') }

const listNotes = operation({
  method: 'GET',
  path: '/discussions/:discussion_id/notes',
  summary: 'List the notes of a thread of #',
  published: true,
  first: [signedIn],
  gates: [noteable, discussionOfNotes],
  handle: async (ctx) => {
    const { db, discussion, noteable, page } = ctx
    const at = { ...page }
    const found = await store.listNotesOf(db, discussion, at)
    return presentPage(found, (row) => presentNote(row, noteable, ctx))
  },
  returns: pageOf(Note),
})

const closed = (): Problem => refused('400 Bad request - Discussion can not be replied to.')

const openForReplies = checks({
  says: 'a thread; single comments on issues, merge requests and epics become one',
  refuses: closed,
  holds: ({ noteable, discussion }: Has<Here & { discussion: DiscussionRow }>) =>
    !discussion.individual_note || !['snippet', 'commit'].includes(noteable.kind),
})

const reply = operation({
  method: 'POST',
  path: '/discussions/:discussion_id/notes',
  summary: 'Reply to a thread of #',
  moves: 'rows',
  takes: LONG_TEXT,
  first: [signedIn],
  params: t.Object({ ...bodyParams, note_id: t.Optional(t.Integer({ description: 'Not needed' })) }),
  gates: [noteable, discussion, canComment, openForReplies],
  handle: async (ctx) => {
    const { db, discussion, params } = ctx
    const first = await store.firstOf(db, discussion)
    const more =
      first?.type === 'DiffNote'
        ? { type: first.type, position: first.diff_position, commit_id: first.commit_id }
        : { type: 'DiscussionNote' as const }
    return commentWriting.note(ctx, params, more, (db, about, fresh) =>
      insertReply(db, about, discussion, fresh),
    )
  },
  returns: Note,
  also: { 202: CommandsOnly },
  refuses: commentWriting.refuses,
})

const noteOfThread = checks({
  says: 'a note of that thread',
  refuses: noSuchRecord,
  holds: ({ note, discussion }: Has<{ note: NoteRow; discussion: DiscussionRow }>) =>
    note.discussion_id === discussion.id,
})

const getNote = operation({
  method: 'GET',
  path: '/discussions/:discussion_id/notes/:note_id',
  summary: 'Get a note of a thread of #',
  published: true,
  first: [signedIn],
  gates: [noteable, discussion, note, noteOfThread],
  handle: async (ctx) => presentNote(await store.readNote(ctx.db, ctx.note), ctx.noteable, ctx),
  returns: Note,
})

const notResolvable = (): Problem => refused('400 Bad request - Note is not resolvable')

/** A note is changed by whoever may edit it, and settled by whoever may settle its thread or wrote it. */
const editsOrSettles = allows({
  says: 'the author, or at least Maintainer; to resolve: at least Developer, or an author of either',
  refuses: forbidden,
  holds: (ctx: Has<Here & { note: NoteRow; params: { readonly resolved?: boolean } }>) =>
    mayEdit(ctx, ctx.note) || (ctx.params.resolved !== undefined && mayResolve(ctx)),
})

const updateNote = operation({
  method: 'PUT',
  path: '/discussions/:discussion_id/notes/:note_id',
  summary: 'Change or resolve a note of a thread of #',
  moves: 'rows',
  takes: LONG_TEXT,
  first: [signedIn],
  params: t.Object(
    {
      body: t.Optional(t.Unsafe<string>({ type: 'string', minLength: 1 })),
      resolved: t.Optional(t.Boolean()),
    },
    { exactlyOne: ['body', 'resolved'] },
  ),
  gates: [noteable, discussion, note, noteOfThread, editsOrSettles],
  handle: async (ctx) => {
    const { note, params } = ctx
    const { resolved } = params
    if (resolved === undefined) return change(ctx, note, params.body ?? '')
    return ctx.transact(ctx, async (ctx) => {
      const { db, noteable, note, actor } = ctx
      if (!isResolvable(note, noteable)) throw notResolvable()
      const what = { discussion_id: note.discussion_id, id: note.id }
      await settleNotes(db, noteable, what, { user_id: actor.id, resolved })
      return presentNote(await store.readNote(db, note), noteable, ctx)
    })
  },
  returns: Note,
  also: { 202: CommandsOnly },
  refuses: [...commentWriting.refuses, notResolvable],
})

const removeNote = operation({
  method: 'DELETE',
  path: '/discussions/:discussion_id/notes/:note_id',
  summary: 'Delete a note of a thread of #',
  published: true,
  first: [signedIn],
  gates: [noteable, discussion, note, noteOfThread, editsNote],
  handle: ({ db, noteable, note }) => deleteNote(db, noteable, note),
  returns: nothing,
})

/** The operations of the notes in threads. */
export const threadNoteOperations = {
  'list#DiscussionNotes': listNotes,
  'create#DiscussionNote': reply,
  'get#DiscussionNote': getNote,
  'update#DiscussionNote': updateNote,
  'delete#DiscussionNote': removeNote,
}
