import { sql } from 'kysely'
import { lasts } from '../../core/values/expiry.ts'
import { showsCodeOf } from '../../core/sight/features.ts'
import { projectPages } from '../../core/lists/projects.ts'
import { homeOf } from '../../core/sight/roles.ts'
import { role, seesGroup, visibleForks } from '../../core/sight/callers.ts'
import type { ProjectInGroup } from '../../records/places/project.ts'

/** One page of a group's projects, as far as the viewer may see them. */
export const listProjects = projectPages<ProjectInGroup>(
  (p, rows, { everything }) => sql`
    select p.*, to_json(home) as namespace, shared.shared_with_groups,
           ${showsCodeOf('p', role, everything)} as shows_code,
           ${visibleForks(p, 'p', everything)} as forks_count
      from (${rows}) p, ${homeOf} n,
           lateral (select n.name, n.path, n.kind, n.full_name, n.full_path, n.parent_id, n.avatar_url
                      from namespaces n where n.id = p.namespace_id) home,
           lateral (select coalesce(json_agg(json_build_object(
                             'group_id', n.id, 'group_name', n.name, 'group_full_path', n.full_path,
                             'group_access_level', l.group_access, 'expires_at', l.expires_at) order by l.id), '[]')
                             as shared_with_groups
                      from project_group_links l join namespaces n on n.id = l.group_id
                     where l.project_id = p.id and ${lasts('l')}
                       and ${seesGroup(p, everything)}
                   ) shared`,
)
