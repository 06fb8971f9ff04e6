import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { statements, type Slots } from '../../db/statement.ts'
import type { Noteable } from './noteable.ts'
import { lasts } from '../values/expiry.ts'
import { mentionedIn, referencesIn, withoutCode, type Reference } from './mention_text.ts'
import type { Project } from '../places/projects.ts'
import { findReferred, tellReferred } from './references.ts'
import { ROLES, heldBy, homeOf, openTo, roleInNamespace, roleInProject, type Viewer } from '../sight/roles.ts'
import { mine, seesGroup } from '../sight/callers.ts'
import { addTodos } from './todos.ts'

// Side effects of a text: to-do items for mentioned users, and cross references on referenced records.

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
  readonly user_id: number
  readonly open_to: readonly Visibility[]
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
/** As many members of groups hear of one text. */
const MAX_NOTIFIED_MEMBERS = 100
/** The members, also from above, of those groups that whoever calls them sees. */
const membersOf = (p: Slots<Called>, everything: boolean): RawBuilder<unknown> => sql`
  select distinct m.user_id as id
    from namespaces n, unnest(n.traversal_ids) line (id),
         lateral (select m.user_id from members m
                   where m.namespace_id = line.id and m.access_level >= ${sql.lit(ROLES.guest)}
                     and ${lasts('m')}
                   order by m.user_id limit ${sql.lit(MAX_NOTIFIED_MEMBERS)}) m
   where lower(n.full_path) = any(${p.names}::text[]) and n.kind = 'group' and ${seesGroup(p, everything)}
   order by 1 limit ${sql.lit(MAX_NOTIFIED_MEMBERS)}`
interface Shape {
  readonly in: 'projects' | 'groups'
  readonly everything: boolean
}
const called = statements<Shape, Called, { id: number }>((p, shape) => {
  const place = shape.in === 'projects' ? sql`projects p, ${homeOf} n` : sql`namespaces p`
  const codeOpen =
    shape.in === 'projects'
      ? sql`(not ${p.code}::boolean or p.repository_access_level = 'enabled')`
      : sql`true`
  return sql`
    with ${mine(p)}, meant as materialized (
      select id from users where lower(username) = any(${p.names}::text[])
      union select id from (${membersOf(p, shape.everything)}) member)
    select u.id from meant join users u using (id), ${place}, lateral (select ${rolesOf[shape.in]} as role offset 0) held
     where p.id = ${p.place} and u.state = 'active'
       and (u.admin or held.role >= ${p.least}
            or (${p.open}::boolean and ${codeOpen}
                and (p.visibility = 'public' or (p.visibility = 'internal' and not u.external)))
            or exists (select from issues i where i.id = ${p.noteable_id} and i.confidential and ${p.least} <= ${sql.lit(ROLES.planner)}
                          and (i.author_id = u.id or exists (select from issue_assignees a
                                                              where a.issue_id = i.id and a.user_id = u.id))))
     order by u.id`
})

/** The mentioned users and members of mentioned groups who can read it. */
async function readersOf(
  { db, actor, about, internal }: Spoken,
  names: readonly string[],
): Promise<number[]> {
  const place = about.project_id ?? about.group_id
  if (names.length === 0 || place === null) return []
  const code = about.kind === 'merge_request' || about.kind === 'commit'
  const least = internal || code ? ROLES.reporter : about.confidential ? ROLES.planner : ROLES.guest
  const where = about.project_id === null ? 'groups' : 'projects'
  const rows = await db.rows(called({ in: where, everything: actor.admin }), {
    names,
    user_id: actor.id,
    open_to: openTo(actor),
    place,
    noteable_id: about.id,
    least,
    open: !internal && !about.confidential && about.kind !== 'snippet',
    code,
  })
  return rows.map(({ id }) => id)
}

/** Writes cross references on the referenced records; confidential sources leave none. */
async function refer(
  { db, actor, about, project, internal }: Spoken,
  references: readonly Reference[],
): Promise<void> {
  if (project === undefined || internal || about.confidential) return
  if (references.length === 0) return
  await tellReferred(db, { actor, about, project }, await findReferred(db, actor, project, references))
}

/** As much of a text is heard; behind it people only read on. */
const HEARD = 200_000

/** Call inside the transaction that writes the text. What it said `before` is not said again. */
export async function processMentions(spoken: Spoken, body: string, before = ''): Promise<void> {
  const { db, actor, about, noteId } = spoken
  const [now, then] = [spokenIn(body), spokenIn(before)]
  const { id: noteable_id, project_id, group_id } = about
  const readers = await readersOf(
    spoken,
    now.names.filter((name) => !then.names.includes(name)),
  )
  const from = { noteable_id, project_id, group_id, note_id: noteId, author_id: actor.id }
  await addTodos(db, readers, { ...from, action: 'mentioned' })
  const known = then.references.map(keyOf)
  await refer(
    spoken,
    now.references.filter((one) => !known.includes(keyOf(one))),
  )
}

/** The same for the description of a record. */
export const hearDescription = (
  speaker: Pick<Spoken, 'db' | 'actor' | 'about' | 'project'>,
  now: string | null | undefined,
  before: string | null = '',
): Promise<void> => processMentions({ ...speaker, noteId: null, internal: false }, now ?? '', before ?? '')

const keyOf = ({ kind, path, iid }: Reference): string => `${kind} ${path} ${iid}`

function spokenIn(body: string): { readonly names: string[]; readonly references: Reference[] } {
  if (body === '') return { names: [], references: [] }
  const text = withoutCode(body.slice(0, HEARD))
  return { names: mentionedIn(text), references: referencesIn(text) }
}
