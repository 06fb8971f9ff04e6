import { sql } from 'kysely'
import {
  seesThread,
  sightOf,
  sightValues,
  type Noteable,
  type Reader,
  type Sight,
  type SightValues,
} from '../../core/conversation/noteable.ts'
import type { Db } from '../../db/db.ts'
import { existing } from '../../db/rows.ts'
import type { Discussion } from '../../db/schema/conversation.ts'
import { paged, pageStatements, pageStatement, type Listed } from '../../db/pages.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { noteColumns, type NoteWithPeople } from '../../records/conversation/note.ts'

interface Page {
  readonly limit: number
  readonly offset: number
}
interface Shape {
  readonly by: 'created_at' | 'updated_at'
  readonly sort: 'asc' | 'desc'
  readonly filter: 'all_notes' | 'only_comments' | 'only_activity'
}
type About = { readonly about: Pick<Noteable, 'id'>; readonly reader: Reader }
type Values = SightValues & Page & { readonly noteable_id: number }

const KINDS = {
  all_notes: sql``,
  only_comments: sql`and n.system_action is null`,
  only_activity: sql`and n.system_action is not null`,
}

const notes = pageStatements<Shape & Sight, Values, NoteWithPeople>((p, shape) => {
  const [by, way] = [sql.ref(`n.${shape.by}`), sql.raw(shape.sort)]
  const order = sql`order by ${by} ${way}, n.id ${way}`
  const matches = sql`
    select n.* from notes n
     where n.noteable_id = ${p.noteable_id} and n.type is null ${KINDS[shape.filter]} and ${seesThread(p, shape, 'n')}`
  const page = sql`${matches} ${order} limit ${p.limit} offset ${p.offset}`
  return paged(sql<NoteWithPeople>`select ${noteColumns} from (${page}) n ${order}`, matches)
})

/** The single comments and system notes about it; what stands in threads is no note of this list. */
export const listNotes = (
  db: Db,
  { about, reader }: About,
  shape: Shape,
  page: Page,
): Promise<Listed<NoteWithPeople>> =>
  db.page(notes({ ...shape, ...sightOf(reader) }), {
    ...sightValues(reader),
    ...page,
    noteable_id: about.id,
  })

const threads = pageStatements<Sight, Values, Discussion>((p, sight) => {
  const matches = sql`
    select d.* from discussions d where d.noteable_id = ${p.noteable_id} and ${seesThread(p, sight, 'd')}`
  return paged(
    sql<Discussion>`${matches} order by d.created_at, d.id limit ${p.limit} offset ${p.offset}`,
    matches,
  )
})
const notesIn = statement(
  (p: Slots<{ ids: readonly number[] }>) => sql<NoteWithPeople>`
    select ${noteColumns} from notes n where n.discussion_id = any(${p.ids}::bigint[])
     order by n.discussion_id, n.created_at, n.id`,
)

export interface Thread extends Discussion {
  readonly notes: readonly NoteWithPeople[]
}

/** The threads with all their notes, in the order given. */
export async function withNotes(db: Db, found: readonly Discussion[]): Promise<Thread[]> {
  if (found.length === 0) return []
  const threads = new Map(found.map((thread) => [thread.id, { ...thread, notes: [] as NoteWithPeople[] }]))
  for (const note of await db.rows(notesIn, { ids: [...threads.keys()] }))
    threads.get(note.discussion_id)?.notes.push(note)
  return [...threads.values()]
}

/** A page of threads, those first that began first. */
export async function listThreads(db: Db, { about, reader }: About, page: Page): Promise<Listed<Thread>> {
  const values = { ...sightValues(reader), ...page, noteable_id: about.id }
  const { items, total } = await db.page(threads(sightOf(reader)), values)
  return { items: await withNotes(db, items), total }
}

const notesOfOne = pageStatement<Page & { discussion_id: number }, NoteWithPeople>((p) => {
  const matches = sql`select n.* from notes n where n.discussion_id = ${p.discussion_id}`
  const page = sql`${matches} order by n.created_at, n.id limit ${p.limit} offset ${p.offset}`
  return paged(
    sql<NoteWithPeople>`select ${noteColumns} from (${page}) n order by n.created_at, n.id`,
    matches,
  )
})

/** A page of the notes of a thread, oldest first. */
export const listNotesOf = (
  db: Db,
  { id }: Pick<Discussion, 'id'>,
  page: Page,
): Promise<Listed<NoteWithPeople>> => db.page(notesOfOne, { ...page, discussion_id: id })

const one = statement(
  (p: Slots<{ id: number }>) => sql<NoteWithPeople>`select ${noteColumns} from notes n where n.id = ${p.id}`,
)

/** A note that the caller was found to see, with the people around it. */
export async function readNote(db: Db, { id }: { readonly id: number }): Promise<NoteWithPeople> {
  return existing(await db.one(one, { id }))
}

const thread = statement(
  (p: Slots<{ id: number }>) => sql<Discussion>`select * from discussions where id = ${p.id}`,
)

export async function readThread(db: Db, id: number): Promise<Thread> {
  return existing((await withNotes(db, await db.rows(thread, { id })))[0])
}

type Kin = Pick<NoteWithPeople, 'type' | 'diff_position' | 'commit_id'>
const first = statement(
  (p: Slots<{ id: number }>) => sql<Kin>`
    select type, diff_position, commit_id from notes where discussion_id = ${p.id} order by created_at, id limit 1`,
)

/** Columns that the notes of a thread take from its first note. */
export const firstOf = (db: Db, { id }: Pick<Discussion, 'id'>): Promise<Kin | undefined> =>
  db.one(first, { id })

interface Ends {
  readonly base: string
  readonly start: string
  readonly head: string
}
const diff = statement(
  (p: Slots<Ends & { merge_request_id: number }>) => sql`
    select from merge_request_diffs
     where merge_request_id = ${p.merge_request_id} and base_sha = ${p.base} and start_sha = ${p.start}
       and head_sha = ${p.head} limit 1`,
)
/** Whether that is one of the differences that the merge request had. */
export const hasDiff = async (db: Db, mergeRequestId: number, ends: Ends): Promise<boolean> =>
  (await db.one(diff, { merge_request_id: mergeRequestId, ...ends })) !== undefined

const newest = statement(
  (p: Slots<{ merge_request_id: number }>) => sql<{ base_sha: string; head_sha: string }>`
    select base_sha, head_sha from merge_request_diffs where merge_request_id = ${p.merge_request_id}
     order by id desc limit 1`,
)
/** Between what the merge request stands now. */
export const newestDiff = (
  db: Db,
  mergeRequestId: number,
): Promise<{ base_sha: string; head_sha: string } | undefined> =>
  db.one(newest, { merge_request_id: mergeRequestId })
