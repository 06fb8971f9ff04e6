import { Type as t, type Static } from 'typebox'
import { UserBasic, presentUser, type Author } from '../../records/user.ts'
import type { CommitNote } from '../../db/schema_repositories.ts'
import { nullable, timestamp } from '../../http/schema.ts'
import type { Instance } from '../../instance.ts'

export const CommitComment = t.Object({
  note: t.String(),
  path: nullable(t.String()),
  line: nullable(t.Integer()),
  line_type: nullable(t.String()),
  author: nullable(UserBasic),
  created_at: timestamp(),
})

export type NoteWithAuthor = CommitNote & { readonly author: Author | null }

export const present = (
  row: NoteWithAuthor,
  site: Pick<Instance, 'config'>,
): Static<typeof CommitComment> => ({
  note: row.note,
  path: row.path,
  line: row.line,
  line_type: row.line_type,
  author: row.author && presentUser(row.author, site),
  created_at: row.created_at.toISOString(),
})
