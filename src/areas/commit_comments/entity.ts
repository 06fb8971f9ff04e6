import { Type as t, type Static } from 'typebox'
import { UserBasic, presentUser, type Author } from '../../records/people/user.ts'
import type { Note } from '../../db/schema/conversation.ts'
import { nullable, moment } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'

export const CommitComment = t.Object({
  note: t.String(),
  path: nullable(t.String()),
  line: nullable(t.Integer()),
  line_type: nullable(t.String()),
  author: nullable(UserBasic),
  created_at: moment(),
})

export type NoteWithAuthor = Pick<Note, 'id' | 'body' | 'diff_position' | 'created_at'> & {
  readonly author: Author | null
}

/** The position of a note on a line. */
interface OnLine {
  readonly new_path: string | null
  readonly old_line?: number | null
  readonly new_line?: number | null
}

export const present = (
  row: NoteWithAuthor,
  site: Pick<Instance, 'config'>,
): Static<typeof CommitComment> => {
  const at = row.diff_position as OnLine | null
  const line = at?.new_line ?? at?.old_line ?? null
  return {
    note: row.body,
    path: at?.new_path ?? null,
    line,
    line_type: line === null ? null : typeof at?.new_line === 'number' ? 'new' : 'old',
    author: row.author && presentUser(row.author, site),
    created_at: row.created_at,
  }
}
