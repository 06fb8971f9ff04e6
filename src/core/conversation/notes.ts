import { randomBytes } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Discussion, Note } from '../../db/schema/conversation.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'
import type { Noteable, NoteableKind } from './noteable.ts'
import { recordNote } from './note_events.ts'
import { finishTodos } from './todos.ts'

// Writing notes. Each write first takes the row of what is talked about, so that a thread has its notes in the order in
// which they came, and the record its count.

const TABLES = {
  issue: 'issues',
  merge_request: 'merge_requests',
  snippet: 'snippets',
  epic: 'epics',
} as const

const bump = statements<{ kind: keyof typeof TABLES }, { id: number; more: number }, unknown>(
  (p, { kind }) => sql`
    update ${sql.table(TABLES[kind])}
       set user_notes_count = user_notes_count + ${p.more}, updated_at = clock_timestamp()
     where id = ${p.id}`,
)
const holdCommit = statement(
  (p: Slots<{ id: number }>) => sql`select from noteable_commits where id = ${p.id} for update`,
)

/** Notes that a record changed, and that it has `more` notes that all who see it see; others wait until the transaction ends. */
export const touchNoteable = (
  db: Db,
  { kind, id }: { readonly kind: NoteableKind; readonly id: number },
  more = 0,
): Promise<number> => (kind === 'commit' ? db.run(holdCommit, { id }) : db.run(bump({ kind }), { id, more }))

/** Internal notes are not counted: the count is shown to those who do not see them. */
const counted = (note: Pick<Note, 'internal' | 'system_action'>): number =>
  note.internal || note.system_action !== null ? 0 : 1

const makeCommit = statement(
  (p: Slots<{ project_id: number; sha: string }>) => sql<{ id: number }>`
    insert into noteable_commits (project_id, sha) values (${p.project_id}, ${p.sha})
    on conflict on constraint noteable_commits_sha_key do update set sha = excluded.sha
    returning id`,
)

/** The same noteable with an id: a commit gets one when somebody first says something about it. */
export async function withRow(db: Db, about: Noteable): Promise<Noteable> {
  if (about.id !== 0 || about.project_id === null || about.sha === undefined) return about
  const row = await db.insert(makeCommit, { project_id: about.project_id, sha: about.sha })
  return { ...about, id: row.id }
}

export interface NewNote {
  readonly author_id: number | null
  readonly body: string
  /** When it was said, if not now. */
  readonly created_at: string | null
  readonly type: Note['type']
  readonly position: object | null
  readonly commit_id: string | null
}

type Written = Omit<NewNote, 'position'> & { readonly noteable_id: number; readonly position: string | null }

/** As much is said about one thing: whoever reads all of it at once must be answered. What the service says is not counted. */
const MAX_PER_NOTEABLE = { notes: 5_000, bytes: 32 * 1024 * 1024 }
/** It is refused: as much has been said as can be. */
export class TooMuchSaid extends Error {}

const hasRoom = (noteable: RawBuilder<unknown>): RawBuilder<boolean> => sql`(
  select count(*) < ${sql.lit(MAX_PER_NOTEABLE.notes)} and coalesce(sum(octet_length(c.body)), 0) < ${sql.lit(MAX_PER_NOTEABLE.bytes)}
    from (select n.body from notes n where n.noteable_id = ${noteable} and n.system_action is null
           limit ${sql.lit(MAX_PER_NOTEABLE.notes)}) c)`
const room = statement((p: Slots<{ id: number }>) => sql<{ free: boolean }>`select ${hasRoom(p.id)} as free`)

/** The row, if there is one. Throws TooMuchSaid where the noteable is full, otherwise as `db.update` does. */
async function unlessFull(db: Db, { id }: Noteable, row: Note | undefined): Promise<Note> {
  if (row !== undefined) return row
  throw (await db.one(room, { id }))?.free === false ? new TooMuchSaid() : new Error('no note was written')
}

const begin = statement(
  (p: Slots<Written & { key: string; individual: boolean; internal: boolean }>) => sql<Note>`
    with thread as (
      insert into discussions (key, noteable_id, individual_note, internal, created_at)
      select ${p.key}, ${p.noteable_id}, ${p.individual}, ${p.internal},
             coalesce(${p.created_at}::timestamptz, clock_timestamp())
       where ${hasRoom(p.noteable_id)}
      returning id, internal, created_at
    )
    insert into notes (discussion_id, noteable_id, author_id, type, body, internal, diff_position, commit_id, created_at, updated_at)
    select id, ${p.noteable_id}, ${p.author_id}, ${p.type}, ${p.body}, internal, ${p.position}::jsonb, ${p.commit_id},
           created_at, created_at
      from thread
    returning *`,
)
/** Nothing is left to settle in the thread `d`: what is answered there leaves it so, as published. */
const isSettled = sql`(
  select bool_and(n.resolved_at is not null) from notes n
   where n.discussion_id = d.id and n.type is not null and n.system_action is null)`
const answer = statement(
  (p: Slots<Written & { discussion_id: number }>) => sql<Note>`
    insert into notes (discussion_id, noteable_id, author_id, type, body, internal, mentions_project_id, mentions_code,
                       mentions_noteable_id, diff_position, commit_id, created_at, updated_at, resolved_at, resolved_by_id)
    select d.id, d.noteable_id, ${p.author_id}, ${p.type}, ${p.body}, d.internal, d.mentions_project_id, d.mentions_code,
           d.mentions_noteable_id, ${p.position}::jsonb, ${p.commit_id}, now.at, now.at,
           case when settled.it then clock_timestamp() end, case when settled.it then ${p.author_id}::bigint end
      from discussions d, (select coalesce(${p.created_at}::timestamptz, clock_timestamp()) as at) now,
           lateral (select ${isSettled} as it) settled
     where d.id = ${p.discussion_id} and d.noteable_id = ${p.noteable_id} and ${hasRoom(p.noteable_id)}
    returning *`,
)
const makeThread = statement(
  (p: Slots<{ id: number }>) => sql`
    with thread as (
      update discussions set individual_note = false where id = ${p.id} and individual_note returning id
    )
    update notes set type = 'DiscussionNote' from thread
     where notes.discussion_id = thread.id and notes.type is null`,
)

const written = (about: Noteable, note: NewNote): Written => ({
  ...note,
  noteable_id: about.id,
  position: note.position && JSON.stringify(note.position),
})

/** Begins a thread, or says something by itself. Call inside a transaction; `about` has a row. Throws TooMuchSaid. */
export async function insertThread(
  db: Db,
  about: Noteable,
  note: NewNote,
  how: { readonly individual: boolean; readonly internal: boolean },
): Promise<Note> {
  await touchNoteable(db, about, how.internal ? 0 : 1)
  const key = randomBytes(20).toString('hex')
  const row = await unlessFull(db, about, await db.one(begin, { ...written(about, note), ...how, key }))
  await recordNote(db, about, row, 'create')
  await finishTodos(db, [about.id], note.author_id)
  return row
}

/** Answers in a thread, and makes one of a single comment. Throws TooMuchSaid. */
export async function insertReply(
  db: Db,
  about: Noteable,
  thread: Pick<Discussion, 'id' | 'internal'>,
  note: NewNote,
): Promise<Note> {
  await touchNoteable(db, about, thread.internal ? 0 : 1)
  await db.run(makeThread, { id: thread.id })
  const answered = await db.one(answer, { ...written(about, note), discussion_id: thread.id })
  const row = await unlessFull(db, about, answered)
  await recordNote(db, about, row, 'create')
  await finishTodos(db, [about.id], note.author_id)
  return row
}

const edit = statement(
  (p: Slots<{ id: number; noteable_id: number; body: string }>) => sql<Note>`
    update notes set body = ${p.body}, updated_at = clock_timestamp()
     where id = ${p.id} and noteable_id = ${p.noteable_id}
       and (octet_length(${p.body}) <= octet_length(body) or ${hasRoom(p.noteable_id)})
    returning *`,
)

/** Changes what a note says. Throws TooMuchSaid where it would say more. */
export async function updateNote(db: Db, about: Noteable, id: number, body: string): Promise<Note> {
  await touchNoteable(db, about)
  const row = await unlessFull(db, about, await db.one(edit, { id, noteable_id: about.id, body }))
  await recordNote(db, about, row, 'update')
  return row
}

const remove = statement(
  (p: Slots<{ id: number; noteable_id: number }>) => sql<Pick<Note, 'discussion_id'>>`
    delete from notes where id = ${p.id} and noteable_id = ${p.noteable_id} returning discussion_id`,
)
// A thread is as old as the first of its notes that are left, and gone with the last.
const closeGap = statement(
  (p: Slots<{ id: number }>) => sql`
    with first as (select min(created_at) as at from notes where discussion_id = ${p.id}),
         moved as (update discussions d set created_at = first.at from first
                    where d.id = ${p.id} and first.at is not null and first.at <> d.created_at)
    delete from discussions d using first where d.id = ${p.id} and first.at is null`,
)

/** Deletes a note, and its thread with the last one. */
export async function deleteNote(
  db: Db,
  about: Noteable,
  note: Pick<Note, 'id' | 'internal' | 'system_action'>,
): Promise<void> {
  await touchNoteable(db, about, -counted(note))
  const gone = await db.update(remove, { id: note.id, noteable_id: about.id })
  await db.run(closeGap, { id: gone.discussion_id })
}

const settle = statement(
  (p: Slots<{ discussion_id: number; id: number | null; user_id: number; resolved: boolean }>) => sql`
    update notes
       set resolved_at = case when ${p.resolved} then coalesce(resolved_at, clock_timestamp()) end,
           resolved_by_id = case when not ${p.resolved} then null
                                 when resolved_at is null then ${p.user_id}::bigint else resolved_by_id end,
           updated_at = clock_timestamp()
     where discussion_id = ${p.discussion_id} and (${p.id}::bigint is null or id = ${p.id})
       and type is not null and system_action is null and (resolved_at is not null) <> ${p.resolved}`,
)

/** Marks one note of a thread, or all, as settled or open again. */
export async function settleNotes(
  db: Db,
  about: Noteable,
  what: { readonly discussion_id: number; readonly id: number | null },
  how: { readonly user_id: number; readonly resolved: boolean },
): Promise<void> {
  await touchNoteable(db, about)
  await db.run(settle, { ...what, ...how })
}
