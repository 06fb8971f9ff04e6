import { randomBytes } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/client.ts'
import { statement, statements, type Slots } from '../db/statement.ts'
import type { Noteable } from './conversation.ts'
import { mentionedIn, referencesIn, withoutCode, type Reference } from './mention_text.ts'
import { seesIssue } from './noteables.ts'
import type { Project } from './projects.ts'
import { ROLES, heldBy, homeOf, openTo, roleInNamespace, roleInProject, type Viewer } from './roles.ts'
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

interface Sought {
  readonly paths: readonly string[]
  readonly iids: readonly number[]
  readonly user_id: number
  readonly admin: boolean
  readonly open_to: readonly string[]
}
const role = sql`held.role`
/** Switched on for whoever speaks; what is written under a record is written nowhere else. */
const isOpen = (feature: 'issues' | 'merge_requests'): RawBuilder<boolean> => sql`
  case coalesce(p.settings->>${sql.lit(`${feature}_access_level`)},
                case when p.settings->>${sql.lit(`${feature}_enabled`)} = 'false' then 'disabled' else 'enabled' end)
    when 'enabled' then true when 'private' then held.role >= ${sql.lit(ROLES.guest)} else false end`
const sees = {
  issue: (p: Slots<Sought>) => sql`
    (${p.admin}::boolean or ${isOpen('issues')} and (p.visibility = any(${p.open_to}) or held.role >= ${sql.lit(ROLES.guest)})
      and ${seesIssue(p.user_id, role)})`,
  merge_request: (p: Slots<Sought>) => sql`
    (${p.admin}::boolean or ${isOpen('merge_requests')} and (held.role >= ${sql.lit(ROLES.reporter)}
      or (p.visibility = any(${p.open_to}) and p.repository_access_level = 'enabled')))`,
}
const TABLES = { issue: 'issues', merge_request: 'merge_requests' } as const
const targets = statements<{ kind: Reference['kind'] }, Sought, { id: number; project_id: number }>(
  (p, { kind }) => sql`
    select i.id, i.project_id
      from unnest(${p.paths}::text[], ${p.iids}::int[]) as wanted (path, iid)
      join projects p on lower(p.full_path) = lower(wanted.path)
      join ${homeOf} n on true
      join ${sql.table(TABLES[kind])} i on i.project_id = p.id and i.iid = wanted.iid,
           lateral (select coalesce(${roleInProject(heldBy(p.user_id), sql`p.id`, sql`n.traversal_ids`)}, 0) as role
                    offset 0) held
     where not p.archived and ${sees[kind](p)}
     order by i.id`,
)

interface Word {
  readonly ids: readonly number[]
  readonly keys: readonly string[]
  readonly bodies: readonly string[]
  readonly author_id: number
  readonly project_id: number
  readonly code: boolean
}
const tell = statement(
  (p: Slots<Word>) => sql`
    with word as (
      select w.id, w.key, w.body from unnest(${p.ids}::bigint[], ${p.keys}::text[], ${p.bodies}::text[]) as w (id, key, body)
       where not exists (select from notes n where n.noteable_id = w.id and n.system_action = 'cross_reference'
                            and n.mentions_project_id = ${p.project_id} and n.body = w.body)
    ), thread as (
      insert into discussions (key, noteable_id, individual_note, mentions_project_id, mentions_code)
      select key, id, true, ${p.project_id}, ${p.code} from word order by id
      returning id, noteable_id
    )
    insert into notes (discussion_id, noteable_id, author_id, body, system_action, mentions_project_id, mentions_code)
    select t.id, t.noteable_id, ${p.author_id}, w.body, 'cross_reference', ${p.project_id}, ${p.code}
      from thread t join word w on w.id = t.noteable_id`,
)

const WORDS = {
  issue: (about: Noteable) => ({ kind: 'issue', ref: `#${about.iid}`, apart: '' }),
  merge_request: (about: Noteable) => ({ kind: 'merge request', ref: `!${about.iid}`, apart: '' }),
  commit: (about: Noteable) => ({ kind: 'commit', ref: about.sha ?? '', apart: '@' }),
}

/** `mentioned in issue #1`, with the project where that is another. */
function sentence(about: Noteable, project: Project, targetProject: number): string | undefined {
  if (about.kind === 'snippet' || about.kind === 'epic') return undefined
  const { kind, ref, apart } = WORDS[about.kind](about)
  return `mentioned in ${kind} ${targetProject === project.id ? ref : `${project.full_path}${apart}${ref}`}`
}

/** Writes under what the text speaks of that it does; of what is not for everybody nothing is said elsewhere. */
async function refer(spoken: Spoken, text: string): Promise<void> {
  const { db, actor, about, project, internal } = spoken
  if (project === undefined || internal || about.confidential) return
  const references = referencesIn(text)
  for (const kind of ['issue', 'merge_request'] as const) {
    const wanted = references.filter((one) => one.kind === kind)
    if (wanted.length === 0) continue
    const found = await db.rows(targets({ kind }), {
      paths: wanted.map(({ path }) => path ?? project.full_path),
      iids: wanted.map(({ iid }) => iid),
      user_id: actor.id,
      admin: actor.admin,
      open_to: openTo(actor),
    })
    const words = found.flatMap(({ id, project_id }) => {
      const body = id === about.id ? undefined : sentence(about, project, project_id)
      return body === undefined ? [] : [{ id, body }]
    })
    if (words.length === 0) continue
    await db.run(tell, {
      ids: words.map(({ id }) => id),
      keys: words.map(() => randomBytes(20).toString('hex')),
      bodies: words.map(({ body }) => body),
      author_id: actor.id,
      project_id: project.id,
      code: about.kind !== 'issue',
    })
  }
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
