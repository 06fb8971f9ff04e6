import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Discussion, Note } from '../../db/schema/conversation.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'
import {
  seesThread,
  sightOf,
  sightValues,
  type Noteable,
  type Reader,
  type Sight,
  type SightValues,
} from './noteable.ts'

// The notes and discussions that a reader sees on a noteable.

const note = statements<Sight, SightValues & { noteable_id: number; id: number }, Note>(
  (p, sight) => sql`
    select n.* from notes n
     where n.id = ${p.id} and n.noteable_id = ${p.noteable_id} and ${seesThread(p, sight, 'n')}`,
)
const discussion = statements<Sight, SightValues & { noteable_id: number; key: string }, Discussion>(
  (p, sight) => sql`
    select d.* from discussions d
     where d.key = ${p.key} and d.noteable_id = ${p.noteable_id} and ${seesThread(p, sight, 'd')}`,
)

/** A note on it that the reader sees. */
export const findNote = (
  db: Db,
  about: Pick<Noteable, 'id'>,
  reader: Reader,
  id: number,
): Promise<Note | undefined> =>
  db.one(note(sightOf(reader)), { ...sightValues(reader), noteable_id: about.id, id })

/** A thread about it that the reader sees, by its id on the wire. */
export const findDiscussion = (
  db: Db,
  about: Pick<Noteable, 'id'>,
  reader: Reader,
  key: string,
): Promise<Discussion | undefined> =>
  db.one(discussion(sightOf(reader)), { ...sightValues(reader), noteable_id: about.id, key })

const commitRow = statement(
  (p: Slots<{ project_id: number; sha: string }>) => sql<{ id: number }>`
    select id from noteable_commits where project_id = ${p.project_id} and sha = ${p.sha}`,
)

/** The id under which a commit is talked about; 0 when nobody has yet. */
export const commitNoteable = async (db: Db, projectId: number, sha: string): Promise<number> =>
  (await db.one(commitRow, { project_id: projectId, sha }))?.id ?? 0
