import { rowsOf } from '../support/rows.ts'
import type { Calls } from './calls.ts'

/** One public snippet with a file, written by the group's owner. */
export const snippets: Calls = {
  inPrivate: `
                       none   0   5  10  15  20  30  40  50 adm nobody
  listSnippets         404 404 404 200 200 200 200 200 200 200 404
  getSnippet           404 404 404 200 200 200 200 200 200 200 404
  createSnippet        404 404 404 403 403 201 201 201 201 201 404
  updateSnippet        404 404 404 403 403 403 403 200 200 200 404
  deleteSnippet        404 404 404 403 403 403 403 204 204 204 404
  getRawSnippet        404 404 404 200 200 200 200 200 200 200 404
  getRawSnippetFile    404 404 404 200 200 200 200 200 200 200 404
`,
  inPublic: `
                       none   0   5  10  15  20  30  40  50 adm nobody
  listSnippets         200 200 200 200 200 200 200 200 200 200 200
  getSnippet           200 200 200 200 200 200 200 200 200 200 200
  createSnippet        403 403 403 403 403 201 201 201 201 201 401
  updateSnippet        403 403 403 403 403 403 403 200 200 200 401
  deleteSnippet        403 403 403 403 403 403 403 204 204 204 401
  getRawSnippet        200 200 200 200 200 200 200 200 200 200 200
  getRawSnippetFile    200 200 200 200 200 200 200 200 200 200 200
`,
  bodies: {
    createSnippet: { title: 'Fresh', content: 'text', file_name: 'a.txt', visibility: 'private' },
    updateSnippet: { title: 'Changed' },
  },
  set: async (world, { project, callers }) => {
    await world.make.sql(`delete from snippets where project_id = ${project.id}`)
    const [snippet] = await rowsOf<{ id: number }>(
      world,
      `with s as (insert into snippets (project_id, author_id, title, visibility)
                  values ($1, $2, 'Known', 'public') returning id),
            f as (insert into snippet_files (snippet_id, position, path, content)
                  select id, 1, 'known.txt', 'text' from s)
       select id from s`,
      [project.id, callers.get('owner')?.id],
    )
    return { snippet_id: String(snippet?.id), ref: 'main', file_path: 'known.txt' }
  },
}
