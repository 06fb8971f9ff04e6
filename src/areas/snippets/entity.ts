import { Type as t, type Static } from 'typebox'
import type { Snippet as Row } from '../../db/schema/planning.ts'
import { nullable, moment } from '../../http/params/schema.ts'
import type { Instance } from '../../instance.ts'
import { UserBasic, presentUser, type Author } from '../../records/people/user.ts'

export const Snippet = t.Object({
  id: t.Integer(),
  title: t.String(),
  description: nullable(t.String()),
  visibility: t.String(),
  imported: t.Boolean(),
  imported_from: t.String(),
  author: nullable(UserBasic),
  created_at: moment(),
  updated_at: moment(),
  project_id: t.Integer(),
  web_url: t.String(),
  raw_url: t.String(),
  file_name: nullable(t.String()),
  files: t.Array(t.Object({ path: t.String(), raw_url: t.String() })),
})

/** A snippet with what is shown around it. */
export type SnippetShown = Row & {
  readonly author: Author | null
  readonly project_path: string
  /** The names of its files, in their order. */
  readonly paths: string[]
}

/** The one version that a snippet has. */
export const VERSION = 'main'

export function present(row: SnippetShown, { config }: Pick<Instance, 'config'>): Static<typeof Snippet> {
  const web_url = `${config.url}/${row.project_path}/-/snippets/${row.id}`
  return {
    id: row.id,
    title: row.title,
    description: row.description,
    visibility: row.visibility,
    imported: false,
    imported_from: 'none',
    author: row.author && presentUser(row.author, { config }),
    created_at: row.created_at,
    updated_at: row.updated_at,
    project_id: row.project_id,
    web_url,
    raw_url: `${web_url}/raw`,
    file_name: row.paths[0] ?? null,
    files: row.paths.map((path) => ({ path, raw_url: `${web_url}/raw/${VERSION}/${encodeURI(path)}` })),
  }
}
