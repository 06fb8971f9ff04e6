import { Type as t, type Static } from 'typebox'
import {
  DISCUSSION_BASES,
  discussion,
  editsNote,
  mayEdit,
  maySettle,
  note,
  noteable,
  on,
  talks,
  type Base,
  type Talking,
} from '../../access/conversation.ts'
import type { Here } from '../../access/conversation_records.ts'
import { signedIn, unmodified } from '../../access/gates.ts'
import type { Noteable } from '../../core/conversation.ts'
import { deleteNote, insertReply, insertThread, settleNotes } from '../../core/notes.ts'
import { repositoryPath } from '../../core/projects.ts'
import type { Discussion as DiscussionRow, Note as NoteRow } from '../../db/schema_conversation.ts'
import { allows, checks, type Has } from '../../http/gate.ts'
import { LONG_TEXT, nothing, operation, pageOf, type AnyOperation } from '../../http/operation.ts'
import { forbidden, noSuchRecord, notFound, refused } from '../../http/problems.ts'
import type { Instance } from '../../instance.ts'
import { Discussion, Note, isResolvable, presentNote } from '../../records/note.ts'
import { PositionParams, badLine, badPosition, checkCommitOf, checkPosition } from './positions.ts'
import { CommandsOnly, bodyParams, change, says } from './saying.ts'
import * as store from './store.ts'

export { noteOperations } from './note_operations.ts'

const present = (
  thread: store.Thread,
  about: Noteable,
  site: Pick<Instance, 'config'>,
): Static<typeof Discussion> => ({
  id: thread.key,
  individual_note: thread.individual_note,
  notes: thread.notes.map((row) => presentNote(row, { ...about, id: row.noteable_id }, site)),
})

const list = operation({
  method: 'GET',
  path: '/discussions',
  summary: 'List the threads and single comments of #',
  first: [signedIn],
  gates: [noteable],
  handle: async (ctx) => {
    const { db, noteable, reader, page } = ctx
    const at = { limit: page.size, offset: page.offset }
    const { items, total } = await store.listThreads(db, { about: noteable, reader }, at)
    return { items: items.map((thread) => present(thread, noteable, ctx)), total }
  },
  returns: pageOf(Discussion),
})

const get = operation({
  method: 'GET',
  path: '/discussions/:discussion_id',
  summary: 'Get a thread of #',
  first: [signedIn],
  gates: [noteable, discussion],
  handle: async (ctx) => {
    const [thread] = await store.withNotes(ctx.db, [ctx.discussion])
    if (thread === undefined) throw notFound('Discussion')
    return present(thread, ctx.noteable, ctx)
  },
  returns: Discussion,
})

/** Where a thread on a difference stands, once it is known to be there. */
async function placed(
  ctx: Has<Talking>,
  params: { position?: Static<typeof PositionParams>; commit_id?: string },
): Promise<{ position: object | null; commit_id: string | null; type: NoteRow['type'] }> {
  const { db, git, noteable: about, home } = ctx
  const { position, commit_id } = params
  const onDiff = home !== undefined && (about.kind === 'merge_request' || about.kind === 'commit')
  if (!onDiff || (position === undefined && commit_id === undefined))
    return { position: null, commit_id: null, type: 'DiscussionNote' }
  const commitId = about.kind === 'merge_request' ? commit_id : undefined
  const place = { db, repository: git.repository(repositoryPath(home.id)), about, commitId }
  await checkCommitOf(place)
  return {
    position: position === undefined ? null : await checkPosition(place, position),
    commit_id: commitId ?? null,
    type: position === undefined ? 'DiscussionNote' : 'DiffNote',
  }
}

const create = operation({
  method: 'POST',
  path: '/discussions',
  summary: 'Begin a thread about #',
  takes: LONG_TEXT,
  first: [signedIn],
  params: t.Object({
    ...bodyParams,
    commit_id: t.Optional(
      t.String({ description: 'A commit of the merge request', pattern: '^[0-9a-f]{40}$' }),
    ),
    position: t.Optional(PositionParams),
  }),
  gates: [noteable, talks],
  handle: async (ctx) => {
    const { db, params } = ctx
    return says.thread(ctx, params, await placed(ctx, params), (about, fresh) =>
      insertThread(db, about, fresh, { individual: false, internal: false }),
    )
  },
  returns: Discussion,
  also: { 202: CommandsOnly },
  refuses: [...says.refuses, badLine, badPosition],
})

const resolveThread = operation({
  method: 'PUT',
  path: '/discussions/:discussion_id',
  summary: 'Settle a thread of #, or open it again',
  published: true,
  first: [signedIn],
  params: t.Object({ resolved: t.Boolean() }),
  gates: [
    noteable,
    discussion,
    allows({
      says: 'at least Developer, or the author of the merge request; nobody for single comments',
      refuses: forbidden,
      holds: (ctx: Has<Here & { discussion: DiscussionRow }>) =>
        !ctx.discussion.individual_note && maySettle(ctx),
    }),
  ],
  handle: async (ctx) => {
    const { db, noteable, discussion, actor, params } = ctx
    const what = { discussion_id: discussion.id, id: null }
    await settleNotes(db, noteable, what, { user_id: actor.id, resolved: params.resolved })
    return present(await store.readThread(db, discussion.id), noteable, ctx)
  },
  returns: Discussion,
})

/** Who asks for its notes hears of them, as published. */
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
    const at = { limit: page.size, offset: page.offset }
    const { items, total } = await store.listNotesOf(db, discussion, at)
    return { items: items.map((row) => presentNote(row, noteable, ctx)), total }
  },
  returns: pageOf(Note),
})

const closed = (): ReturnType<typeof refused> =>
  refused('400 Bad request - Discussion can not be replied to.')

const openForReplies = checks({
  says: 'a thread; single comments on issues, merge requests and epics become one',
  refuses: closed,
  holds: ({ noteable, discussion }: Has<Here & { discussion: DiscussionRow }>) =>
    !discussion.individual_note || !['snippet', 'commit'].includes(noteable.kind),
})

const reply = operation({
  method: 'POST',
  path: '/discussions/:discussion_id/notes',
  summary: 'Answer in a thread of #',
  takes: LONG_TEXT,
  first: [signedIn],
  params: t.Object({ ...bodyParams, note_id: t.Optional(t.Integer({ description: 'Not needed' })) }),
  gates: [noteable, discussion, talks, openForReplies],
  handle: async (ctx) => {
    const { db, discussion, params } = ctx
    const first = await store.firstOf(db, discussion)
    const more =
      first?.type === 'DiffNote'
        ? { type: first.type, position: first.diff_position, commit_id: first.commit_id }
        : { type: 'DiscussionNote' as const }
    return says.note(ctx, params, more, async (about, fresh) => {
      const row = await insertReply(db, about, discussion, fresh)
      if (row === undefined) throw notFound('Discussion')
      return row
    })
  },
  returns: Note,
  also: { 202: CommandsOnly },
  refuses: says.refuses,
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

const notResolvable = (): ReturnType<typeof refused> => refused('400 Bad request - Note is not resolvable')

/** A note is changed by whoever may edit it, and settled by whoever may settle its thread or wrote it. */
const editsOrSettles = allows({
  says: 'its author, or at least Maintainer; to settle it at least Developer, or the author of either',
  refuses: forbidden,
  holds: (ctx: Has<Here & { note: NoteRow; params: { readonly resolved?: boolean } }>) =>
    mayEdit(ctx, ctx.note) || (ctx.params.resolved !== undefined && maySettle(ctx)),
})

const updateNote = operation({
  method: 'PUT',
  path: '/discussions/:discussion_id/notes/:note_id',
  summary: 'Change a note of a thread of #, or settle it',
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
    const { db, noteable, note, actor, params } = ctx
    if (params.resolved === undefined) return change(ctx, note, params.body ?? '')
    if (!isResolvable(note, noteable)) throw notResolvable()
    const what = { discussion_id: note.discussion_id, id: note.id }
    await settleNotes(db, noteable, what, { user_id: actor.id, resolved: params.resolved })
    return presentNote(await store.readNote(db, note), noteable, ctx)
  },
  returns: Note,
  also: { 202: CommandsOnly },
  refuses: [...says.refuses, notResolvable],
})

const removeNote = operation({
  method: 'DELETE',
  path: '/discussions/:discussion_id/notes/:note_id',
  summary: 'Delete a note of a thread of #',
  published: true,
  first: [signedIn],
  gates: [noteable, discussion, note, noteOfThread, editsNote, unmodified('note')],
  handle: async ({ db, noteable, note }) => {
    if (!(await deleteNote(db, noteable, note))) throw noSuchRecord()
    return null
  },
  returns: nothing,
})

const of = (base: Base): [string, AnyOperation][] => [
  [`list${base.noun}Discussions`, on(base, list)],
  [`get${base.noun}Discussion`, on(base, get)],
  [`create${base.noun}Discussion`, on(base, create)],
  [`list${base.noun}DiscussionNotes`, on(base, listNotes)],
  [`create${base.noun}DiscussionNote`, on(base, reply)],
  [`get${base.noun}DiscussionNote`, on(base, getNote)],
  [`update${base.noun}DiscussionNote`, on(base, updateNote)],
  [`delete${base.noun}DiscussionNote`, on(base, removeNote)],
  ...(base.kind === 'merge_request'
    ? [[`resolve${base.noun}Discussion`, on(base, resolveThread)] as [string, AnyOperation]]
    : []),
]

/** The operations of threads, on each base. */
export const discussionOperations: Readonly<Record<string, AnyOperation>> = Object.fromEntries(
  DISCUSSION_BASES.flatMap(of),
)
