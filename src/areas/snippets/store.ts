import { sql, type RawBuilder } from 'kysely'
import { seesSnippet } from '../../core/sight/noteables.ts'
import { ROLES, openTo, type Viewer } from '../../core/sight/roles.ts'
import type { Db } from '../../db/db.ts'
import { existing } from '../../db/rows.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import type { Snippet } from '../../db/schema/planning.ts'
import { paged, pageStatement, type Listed } from '../../db/pages.ts'
import { q, statement, type Slots } from '../../db/statement.ts'
import { authorJson } from '../../records/people/user.ts'
import type { SnippetShown } from './entity.ts'

/** The snippets whose ids `chosen` selects as `id`, in its order. */
const shown = (chosen: RawBuilder<unknown>): RawBuilder<SnippetShown> => sql`
  select s.*, p.full_path as project_path, ${authorJson(sql`s.author_id`)} as author,
         array(select f.path from snippet_files f where f.snippet_id = s.id order by f.position) as paths
    from (select c.id, row_number() over () as place from (${chosen}) c) chosen
    join snippets s on s.id = chosen.id join projects p on p.id = s.project_id
   order by chosen.place`

interface Sight {
  readonly project_id: number
  readonly viewer: number | null
  readonly role: number
  readonly open: readonly Visibility[]
}
const list = pageStatement((p: Slots<Sight & { limit: number; offset: number }>) => {
  const where = sql`s.project_id = ${p.project_id} and ${seesSnippet(p.viewer, sql`${p.role}::int`, p.open)}`
  return paged(
    shown(
      sql`select s.id from snippets s where ${where} order by s.id desc limit ${p.limit} offset ${p.offset}`,
    ),
    sql`select from snippets s where ${where}`,
  )
})

/** Those of the project that the viewer sees, the newest first. */
export async function listSnippetsOf(
  db: Db,
  viewer: Viewer | null,
  project: { readonly id: number; readonly role: number },
  page: { readonly limit: number; readonly offset: number },
): Promise<Listed<SnippetShown>> {
  return db.page(list, {
    project_id: project.id,
    viewer: viewer?.id ?? null,
    role: viewer?.admin === true ? ROLES.owner : project.role,
    open: openTo(viewer),
    ...page,
  })
}

const one = statement((p: Slots<{ id: number }>) => shown(sql`select ${p.id}::bigint as id`))
export async function showSnippet(db: Db, id: number): Promise<SnippetShown> {
  return existing((await db.rows(one, { id }))[0])
}

interface Fields {
  readonly title: string
  readonly description: string | null
  readonly visibility: Visibility
}
const insert = statement(
  (p: Slots<Fields & { project_id: number; author_id: number }>) => sql<Snippet>`
    insert into snippets (project_id, author_id, title, description, visibility)
    values (${p.project_id}, ${p.author_id}, ${p.title}, ${p.description}, ${p.visibility}) returning *`,
)
export async function insertSnippet(
  db: Db,
  snippet: Fields & { readonly project_id: number; readonly author_id: number },
): Promise<Snippet> {
  return db.insert(insert, snippet)
}

const lock = statement((p: Slots<{ id: number }>) =>
  q.selectFrom('snippets').selectAll().where('id', '=', p.id).forUpdate(),
)
/** As it is now; others who would change it wait. */
export const lockSnippet = (db: Db, id: number): Promise<Snippet | undefined> => db.one(lock, { id })

const update = statement(
  (p: Slots<Fields & { project_id: number; id: number }>) => sql`
    update snippets set title = ${p.title}, description = ${p.description}, visibility = ${p.visibility}, updated_at = now()
     where project_id = ${p.project_id} and id = ${p.id}`,
)
export const updateSnippetRow = (
  db: Db,
  snippet: Fields & { readonly project_id: number; readonly id: number },
): Promise<number> => db.run(update, snippet)

const remove = statement((p: Slots<{ project_id: number; id: number }>) =>
  q.deleteFrom('snippets').where('project_id', '=', p.project_id).where('id', '=', p.id),
)
export const removeSnippet = (db: Db, projectId: number, id: number): Promise<number> =>
  db.run(remove, { project_id: projectId, id })

export interface SnippetFile {
  readonly path: string
  readonly content: string
}
const files = statement((p: Slots<{ id: number }>) =>
  q
    .selectFrom('snippet_files')
    .select(['path', 'content'])
    .where('snippet_id', '=', p.id)
    .orderBy('position'),
)
export const filesOf = (db: Db, id: number): Promise<SnippetFile[]> => db.rows(files, { id })

const replace = statement(
  (p: Slots<{ id: number; paths: readonly string[]; contents: readonly string[] }>) => sql`
    insert into snippet_files (snippet_id, position, path, content)
    select ${p.id}, f.position, f.path, f.content
      from unnest(${p.paths}::text[], ${p.contents}::text[]) with ordinality as f (path, content, position)`,
)
const clear = statement((p: Slots<{ id: number }>) =>
  q.deleteFrom('snippet_files').where('snippet_id', '=', p.id),
)
/** Makes these its files. Call inside the transaction that holds its row. */
export async function writeFiles(db: Db, id: number, given: readonly SnippetFile[]): Promise<void> {
  await db.run(clear, { id })
  const paths = given.map(({ path }) => path)
  await db.run(replace, { id, paths, contents: given.map(({ content }) => content) })
}
