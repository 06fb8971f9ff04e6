import { randomBytes } from 'node:crypto'
import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, statements, type Slots } from '../../db/statement.ts'
import type { Noteable } from './noteable.ts'
import { isOpenTo } from '../sight/features.ts'
import type { Reference } from './mention_text.ts'
import { seesIssue } from '../sight/noteables.ts'
import type { Project } from '../places/projects.ts'
import { ROLES, heldBy, homeOf, openTo, roleInProject, type Viewer } from '../sight/roles.ts'

// Writes the system note of a reference on its target.

type Home = Pick<Project, 'id' | 'full_path'>

/** An issue or merge request that a text speaks of. */
export interface Referred {
  readonly kind: Reference['kind']
  readonly id: number
  readonly iid: number
  readonly project_id: number
  /** Of its project. */
  readonly path: string
  /** Whether whoever speaks may close it. */
  readonly changes: boolean
}

interface Sought {
  readonly paths: readonly string[]
  readonly iids: readonly number[]
  readonly user_id: number
  readonly admin: boolean
  readonly open_to: readonly string[]
}
const role = sql`held.role`
// Notes of a record are visible only where its feature is enabled.
const sees = {
  issue: (p: Slots<Sought>) => sql`
    (${p.admin}::boolean or ${isOpenTo('issues', role)} and (p.visibility = any(${p.open_to}) or held.role >= ${sql.lit(ROLES.guest)})
      and ${seesIssue(p.user_id, role)})`,
  merge_request: (p: Slots<Sought>) => sql`
    (${p.admin}::boolean or ${isOpenTo('merge_requests', role)} and (held.role >= ${sql.lit(ROLES.reporter)}
      or (p.visibility = any(${p.open_to}) and p.repository_access_level = 'enabled')))`,
}
const TABLES = { issue: 'issues', merge_request: 'merge_requests' } as const
/** Users with the right to close and change it, besides seeing it. */
const changes = (p: Slots<Sought>): RawBuilder<boolean> => sql`
  (${p.admin}::boolean or held.role >= ${sql.lit(ROLES.planner)} or i.author_id = ${p.user_id}
   or exists (select from issue_assignees a where a.issue_id = i.id and a.user_id = ${p.user_id}))`
const targets = statements<{ kind: Reference['kind'] }, Sought, Omit<Referred, 'kind'>>(
  (p, { kind }) => sql`
    select i.id, i.iid, i.project_id, p.full_path as path,
           ${kind === 'issue' ? changes(p) : sql`false`} as changes
      from unnest(${p.paths}::text[], ${p.iids}::int[]) as wanted (path, iid)
      join projects p on lower(p.full_path) = lower(wanted.path)
      join ${homeOf} n on true
      join ${sql.table(TABLES[kind])} i on i.project_id = p.id and i.iid = wanted.iid,
           lateral (select coalesce(${roleInProject(heldBy(p.user_id), sql`p.id`, sql`n.traversal_ids`)}, 0) as role
                    offset 0) held
     where not p.archived and ${sees[kind](p)}
     order by i.id`,
)

/** Those of what a text in the project speaks of that there are, and that whoever wrote it sees. */
export async function findReferred(
  db: Db,
  actor: Viewer,
  project: Home,
  references: readonly Reference[],
): Promise<Referred[]> {
  const found: Referred[] = []
  for (const kind of ['issue', 'merge_request'] as const) {
    const wanted = references.filter((one) => one.kind === kind)
    if (wanted.length === 0) continue
    const rows = await db.rows(targets({ kind }), {
      paths: wanted.map(({ path }) => path ?? project.full_path),
      iids: wanted.map(({ iid }) => iid),
      user_id: actor.id,
      admin: actor.admin,
      open_to: openTo(actor),
    })
    found.push(...rows.map((row) => ({ ...row, kind })))
  }
  return found
}

interface Word {
  readonly ids: readonly number[]
  readonly keys: readonly string[]
  readonly bodies: readonly string[]
  readonly author_id: number
  readonly project_id: number
  readonly code: boolean
  readonly noteable_id: number | null
}
const tell = statement(
  (p: Slots<Word>) => sql`
    with word as (
      select w.id, w.key, w.body from unnest(${p.ids}::bigint[], ${p.keys}::text[], ${p.bodies}::text[]) as w (id, key, body)
       where not exists (select from notes n where n.noteable_id = w.id and n.system_action = 'cross_reference'
                            and n.mentions_project_id = ${p.project_id} and n.body = w.body)
    ), thread as (
      insert into discussions (key, noteable_id, individual_note, mentions_project_id, mentions_code, mentions_noteable_id)
      select key, id, true, ${p.project_id}, ${p.code}, ${p.noteable_id} from word order by id
      returning id, noteable_id
    )
    insert into notes (discussion_id, noteable_id, author_id, body, system_action, mentions_project_id, mentions_code,
                       mentions_noteable_id)
    select t.id, t.noteable_id, ${p.author_id}, w.body, 'cross_reference', ${p.project_id}, ${p.code}, ${p.noteable_id}
      from thread t join word w on w.id = t.noteable_id`,
)

type Named = Pick<Noteable, 'id' | 'kind' | 'iid' | 'sha'>

const WORDS = {
  issue: (about: Named) => ({ kind: 'issue', ref: `#${about.iid}`, apart: '' }),
  merge_request: (about: Named) => ({ kind: 'merge request', ref: `!${about.iid}`, apart: '' }),
  commit: (about: Named) => ({ kind: 'commit', ref: about.sha ?? '', apart: '@' }),
}

/** `mentioned in issue #1`, with the project where that is another. */
function sentence(about: Named, project: Home, targetProject: number): string | undefined {
  if (about.kind === 'snippet' || about.kind === 'epic') return undefined
  const { kind, ref, apart } = WORDS[about.kind](about)
  return `mentioned in ${kind} ${targetProject === project.id ? ref : `${project.full_path}${apart}${ref}`}`
}

/** Writes under what is spoken of that it is, once. Call inside the transaction of what speaks. */
export async function tellReferred(
  db: Db,
  { actor, about, project }: { readonly actor: Viewer; readonly about: Named; readonly project: Home },
  found: readonly Referred[],
): Promise<void> {
  const words = found.flatMap(({ id, project_id }) => {
    const body = id === about.id ? undefined : sentence(about, project, project_id)
    return body === undefined ? [] : [{ id, body }]
  })
  if (words.length === 0) return
  await db.run(tell, {
    ids: words.map(({ id }) => id),
    keys: words.map(() => randomBytes(20).toString('hex')),
    bodies: words.map(({ body }) => body),
    author_id: actor.id,
    project_id: project.id,
    code: about.kind !== 'issue',
    noteable_id: about.kind === 'commit' ? null : about.id,
  })
}
