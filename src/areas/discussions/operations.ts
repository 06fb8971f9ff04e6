import { Type as t, type Static } from 'typebox'
import { DISCUSSION_BASES, noteable, onEach } from '../../access/noteable_routes.ts'
import type { Here } from '../../access/conversation_records.ts'
import { signedIn } from '../../access/gates/gates.ts'
import { discussion, mayResolve, canComment, type Commenting } from '../../access/note_permissions.ts'
import type { Noteable } from '../../core/conversation/noteable.ts'
import { insertThread, settleNotes } from '../../core/conversation/notes.ts'
import { repositoryPath } from '../../core/places/projects.ts'
import type { Discussion as DiscussionRow, Note as NoteRow } from '../../db/schema/conversation.ts'
import { allows, type Has } from '../../http/gate.ts'
import { LONG_TEXT, operation, pageOf } from '../../http/operation.ts'
import { forbidden, notFound } from '../../http/problems.ts'
import type { Instance } from '../../instance.ts'
import { Discussion, presentNote } from '../../records/conversation/note.ts'
import { PositionParams, badLine, badPosition, checkCommitOf, checkPosition } from './positions.ts'
import { CommandsOnly, bodyParams, commentWriting } from './note_writing.ts'
import * as store from './store.ts'
import { threadNoteOperations } from './thread_note_operations.ts'
import { presentPage } from '../../http/answers/pages.ts'

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
  summary: 'List the discussions of #',
  first: [signedIn],
  gates: [noteable],
  handle: async (ctx) => {
    const { db, noteable, reader, page } = ctx
    const at = { ...page }
    const found = await store.listThreads(db, { about: noteable, reader }, at)
    return presentPage(found, (thread) => present(thread, noteable, ctx))
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
  ctx: Has<Commenting>,
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
  summary: 'Start a thread on #',
  moves: 'rows',
  takes: LONG_TEXT,
  first: [signedIn],
  params: t.Object({
    ...bodyParams,
    commit_id: t.Optional(
      t.String({ description: 'A commit of the merge request', pattern: '^[0-9a-f]{40}$' }),
    ),
    position: t.Optional(PositionParams),
  }),
  gates: [noteable, canComment],
  handle: async (ctx) => {
    const { params } = ctx
    return commentWriting.thread(ctx, params, await placed(ctx, params), (db, about, fresh) =>
      insertThread(db, about, fresh, { individual: false, internal: false }),
    )
  },
  returns: Discussion,
  also: { 202: CommandsOnly },
  refuses: [...commentWriting.refuses, badLine, badPosition],
})

const resolveThread = operation({
  method: 'PUT',
  path: '/discussions/:discussion_id',
  summary: 'Resolve or reopen a thread of #',
  published: true,
  first: [signedIn],
  params: t.Object({ resolved: t.Boolean() }),
  gates: [
    noteable,
    discussion,
    allows({
      says: 'at least Developer, or the author of the merge request; a thread, not a single comment',
      refuses: forbidden,
      holds: (ctx: Has<Here & { discussion: DiscussionRow }>) =>
        !ctx.discussion.individual_note && mayResolve(ctx),
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

/** The operations of threads and of the notes in them, on each base; those of a merge request are settled as a whole. */
export const discussionOperations = {
  ...onEach(DISCUSSION_BASES, {
    'list#Discussions': list,
    'get#Discussion': get,
    'create#Discussion': create,
    ...threadNoteOperations,
  }),
  ...onEach(
    DISCUSSION_BASES.filter(({ kind }) => kind === 'merge_request'),
    { 'resolve#Discussion': resolveThread },
  ),
}
