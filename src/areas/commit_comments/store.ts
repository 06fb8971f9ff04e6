import { sql } from 'kysely'
import {
  seesThread,
  sightOf,
  sightValues,
  type Reader,
  type Sight,
  type SightValues,
} from '../../core/conversation/noteable.ts'
import type { Db } from '../../db/db.ts'
import { paged, pageStatements, type Listed } from '../../db/pages.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { authorJson } from '../../records/people/user.ts'
import type { NoteWithAuthor } from './entity.ts'

interface Page {
  readonly noteable_id: number
  readonly limit: number
  readonly offset: number
}

const columns = sql`n.id, n.body, n.diff_position, n.created_at, ${authorJson(sql`n.author_id`)} as author`

const list = pageStatements<Sight, SightValues & Page, NoteWithAuthor>((p, sight) => {
  const matches = sql`
    select n.* from notes n
     where n.noteable_id = ${p.noteable_id} and n.system_action is null and ${seesThread(p, sight, 'n')}`
  const order = sql`order by n.created_at, n.id`
  return paged(
    sql<NoteWithAuthor>`
      select ${columns} from (${matches} ${order} limit ${p.limit} offset ${p.offset}) n ${order}`,
    matches,
  )
})

/** The comments on a commit, those in threads too, oldest first. */
export const listComments = (db: Db, reader: Reader, page: Page): Promise<Listed<NoteWithAuthor>> =>
  db.page(list(sightOf(reader)), { ...sightValues(reader), ...page })

const one = statement(
  (p: Slots<{ id: number }>) => sql<NoteWithAuthor>`select ${columns} from notes n where n.id = ${p.id}`,
)
export const readComment = (db: Db, id: number): Promise<NoteWithAuthor | undefined> => db.one(one, { id })
