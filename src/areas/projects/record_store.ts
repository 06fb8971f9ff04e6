import { sql, type RawBuilder } from 'kysely'
import { lasts } from '../../core/values/expiry.ts'
import { showsCodeOf } from '../../core/sight/features.ts'
import { ROLES, openTo, roleInProject, type Viewer } from '../../core/sight/roles.ts'
import { mine, seesGroup, visibleForks, type CallerSlots } from '../../core/sight/callers.ts'
import type { Db } from '../../db/db.ts'
import { existing } from '../../db/rows.ts'
import type { Visibility } from '../../db/schema/columns.ts'
import { statements } from '../../db/statement.ts'
import type { ProjectRecord } from '../../records/places/full_project.ts'
import type { ProjectInGroup } from '../../records/places/project.ts'
import { authorJson } from '../../records/people/user.ts'

type Raw = RawBuilder<unknown>

const home = (namespace: string): Raw => {
  const n = (column: string): Raw => sql.ref(`${namespace}.${column}`)
  return sql`json_build_object('name', ${n('name')}, 'path', ${n('path')}, 'kind', ${n('kind')},
    'full_name', ${n('full_name')}, 'full_path', ${n('full_path')}, 'parent_id', ${n('parent_id')},
    'avatar_url', ${n('avatar_url')})`
}

const shares = (p: CallerSlots, everything: boolean): Raw => sql`(
  select coalesce(json_agg(json_build_object(
           'group_id', n.id, 'group_name', n.name, 'group_full_path', n.full_path,
           'group_access_level', l.group_access, 'expires_at', l.expires_at) order by l.id), '[]')
    from project_group_links l join namespaces n on n.id = l.group_id
   where l.project_id = p.id and ${lasts('l')} and ${seesGroup(p, everything)})`

const roleInOrigin = roleInProject(sql`mine`, sql`o.id`, sql`n.traversal_ids`)
const forkedFrom = (p: CallerSlots, everything: boolean): Raw => sql`(
  select to_json(o.*)::jsonb || jsonb_build_object('namespace', ${home('n')}, 'shared_with_groups', '[]'::json,
                                                   'shows_code', ${showsCodeOf('o', roleInOrigin, everything)},
                                                   'forks_count', ${visibleForks(p, 'o', everything)})
    from projects o join namespaces n on n.id = o.namespace_id
   where o.id = p.forked_from_project_id
     and ${
       everything
         ? sql`true`
         : sql`(o.visibility = any(${p.open_to})
                or ${roleInOrigin} >= ${sql.lit(ROLES.guest)})`
     })`

/** The viewer's roles on the project itself, a personal namespace included, and on its ancestors. */
const levels = sql`
  (select nullif(case when min(g.access_level) = 0 then 0 else max(g.access_level) end, 0) from mine g
    where g.project_id = p.id or (home.kind = 'user' and g.namespace_id = home.id)) as project_level,
  (select nullif(case when min(g.access_level) = 0 then 0 else max(g.access_level) end, 0) from mine g
    where home.kind = 'group' and g.access_level <> ${sql.lit(ROLES.minimal_access)}
      and g.namespace_id = any(home.traversal_ids)) as group_level`

const roleHere = roleInProject(sql`mine`, sql`p.id`, sql`home.traversal_ids`)

/** The records of `rows`, which are whole rows of projects; stands behind `mine`. */
export const recordsOf = (p: CallerSlots, rows: Raw, everything: boolean): RawBuilder<ProjectRecord> => sql`
  select p.*, ${home('home')} as namespace, ${shares(p, everything)} as shared_with_groups,
         ${authorJson(sql`home.owner_id`)} as owner, ${forkedFrom(p, everything)} as forked_from,
         i.status as import_status, i.kind as import_kind, i.url as import_url, i.error as import_error, ${levels},
         coalesce(${roleHere}, 0) as held, ${showsCodeOf('p', roleHere, everything)} as shows_code,
         ${visibleForks(p, 'p', everything)} as forks_count
    from (${rows}) p join namespaces home on home.id = p.namespace_id
    left join project_imports i on i.project_id = p.id`

type ForkJson = Omit<ProjectInGroup, 'created_at' | 'last_activity_at'> & {
  readonly created_at: string
  readonly last_activity_at: string
}

/** A row as it was read, its moments inside JSON made moments. */
export function revive(row: ProjectRecord): ProjectRecord {
  const fork = row.forked_from as unknown as ForkJson | null
  if (fork === null) return row
  const [created_at, last_activity_at] = [new Date(fork.created_at), new Date(fork.last_activity_at)]
  return { ...row, forked_from: { ...fork, created_at, last_activity_at } }
}

interface Values {
  readonly user_id: number | null
  readonly open_to: readonly Visibility[]
  readonly id: number
}
const one = statements<{ everything: boolean }, Values, ProjectRecord>(
  (p, { everything }) => sql`
    with ${mine(p)} ${recordsOf(p, sql`select * from projects where id = ${p.id}`, everything)}`,
)

/** The record of a project that the viewer sees. */
export async function recordFor(db: Db, viewer: Viewer | null, id: number): Promise<ProjectRecord> {
  const values = { id, user_id: viewer?.id ?? null, open_to: openTo(viewer) }
  return revive(existing((await db.rows(one({ everything: viewer?.admin === true }), values))[0]))
}
