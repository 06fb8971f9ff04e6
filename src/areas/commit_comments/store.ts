import { sql } from 'kysely'
import { authorJson } from '../../records/user.ts'
import type { Db } from '../../db/client.ts'
import { listed, paged, statement, type Listed, type Paged, type Slots } from '../../db/statement.ts'
import type { NoteWithAuthor } from './entity.ts'

interface Page {
  readonly project_id: number
  readonly sha: string
  readonly limit: number
  readonly offset: number
}

const list = statement<Page, Paged<NoteWithAuthor>>((p) => {
  const matches = sql`select n.* from commit_notes n where n.project_id = ${p.project_id} and n.sha = ${p.sha}`
  return paged(
    sql<NoteWithAuthor>`
      select n.*, ${authorJson(sql`n.author_id`)} as author
        from (${matches} order by n.id limit ${p.limit} offset ${p.offset}) n order by n.id`,
    matches,
  )
})
export const listComments = async (db: Db, page: Page): Promise<Listed<NoteWithAuthor>> =>
  listed(await db.rows(list, page))

interface NewComment {
  readonly project_id: number
  readonly author_id: number
  readonly sha: string
  readonly note: string
  readonly path: string | null
  readonly line: number | null
  readonly line_type: string | null
}

const insert = statement(
  (p: Slots<NewComment>) => sql<NoteWithAuthor>`
    insert into commit_notes (project_id, author_id, sha, note, path, line, line_type)
    values (${p.project_id}, ${p.author_id}, ${p.sha}, ${p.note}, ${p.path}, ${p.line}, ${p.line_type})
    returning *, ${authorJson(sql`author_id`)} as author`,
)
export const insertComment = (db: Db, comment: NewComment): Promise<NoteWithAuthor | undefined> =>
  db.one(insert, comment)
