import { sql } from 'kysely'
import type { Db } from '../db/client.ts'
import { statements } from '../db/statement.ts'
import type { Noteable } from './conversation.ts'
import { mentionedIn, referencesIn, withoutCode } from './mention_text.ts'
import type { Project } from './projects.ts'
import { findReferred, tellReferred } from './references.ts'
import { ROLES, heldBy, homeOf, roleInNamespace, roleInProject, type Viewer } from './roles.ts'
import { addTodos } from './todos.ts'

// What a text sets off beside being read: to-do items for whom it calls, and a word where what it speaks of is.

interface Spoken {
  readonly db: Db
  readonly actor: Viewer
  readonly about: Noteable
  /** The project it stands in; an epic is in none. */
  readonly project: Project | undefined
  /** Null for a description. */
  readonly noteId: number | null
  readonly internal: boolean
}

interface Called {
  readonly names: readonly string[]
  readonly place: number
  readonly noteable_id: number
  readonly least: number
  readonly open: boolean
  readonly code: boolean
}

const rolesOf = {
  projects: roleInProject(heldBy(sql`u.id`), sql`p.id`, sql`n.traversal_ids`),
  groups: roleInNamespace(heldBy(sql`u.id`), sql`p.traversal_ids`),
}
const called = statements<{ in: 'projects' | 'groups' }, Called, { id: number }>((p, shape) => {
  const place = shape.in === 'projects' ? sql`projects p, ${homeOf} n` : sql`namespaces p`
  const codeOpen =
    shape.in === 'projects'
      ? sql`(not ${p.code}::boolean or p.repository_access_level = 'enabled')`
      : sql`true`
  return sql`
    select u.id from users u, ${place}, lateral (select ${rolesOf[shape.in]} as role offset 0) held
     where p.id = ${p.place} and lower(u.username) = any(${p.names}::text[]) and u.state = 'active'
       and (u.admin or held.role >= ${p.least}
            or (${p.open}::boolean and ${codeOpen}
                and (p.visibility = 'public' or (p.visibility = 'internal' and not u.external)))
            or exists (select from issues i where i.id = ${p.noteable_id} and i.confidential and ${p.least} <= ${sql.lit(ROLES.planner)}
                          and (i.author_id = u.id or exists (select from issue_assignees a
                                                              where a.issue_id = i.id and a.user_id = u.id))))
     order by u.id`
})

/** Who of those named can read it. */
async function readersOf({ db, about, internal }: Spoken, names: readonly string[]): Promise<number[]> {
  const place = about.project_id ?? about.group_id
  if (names.length === 0 || place === null) return []
  const code = about.kind === 'merge_request' || about.kind === 'commit'
  const least = internal || code ? ROLES.reporter : about.confidential ? ROLES.planner : ROLES.guest
  const rows = await db.rows(called({ in: about.project_id === null ? 'groups' : 'projects' }), {
    names,
    place,
    noteable_id: about.id,
    least,
    open: !internal && !about.confidential && about.kind !== 'snippet',
    code,
  })
  return rows.map(({ id }) => id)
}

/** Writes under what the text speaks of that it does; of what is not for everybody nothing is said elsewhere. */
async function refer({ db, actor, about, project, internal }: Spoken, text: string): Promise<void> {
  if (project === undefined || internal || about.confidential) return
  const references = referencesIn(text)
  if (references.length === 0) return
  await tellReferred(db, { actor, about, project }, await findReferred(db, actor, project, references))
}

/** As much of a text is heard; behind it people only read on. */
const HEARD = 200_000

/** Call inside the transaction that writes the text. */
export async function hearMentions(spoken: Spoken, body: string): Promise<void> {
  const text = withoutCode(body.slice(0, HEARD))
  const { db, actor, about, noteId } = spoken
  const { id: noteable_id, project_id, group_id } = about
  const readers = await readersOf(spoken, mentionedIn(text))
  const from = { noteable_id, project_id, group_id, note_id: noteId, author_id: actor.id }
  await addTodos(db, readers, { ...from, action: 'mentioned' })
  await refer(spoken, text)
}
