import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'

const drawInProject = statement(
  (p: Slots<{ project_id: number; counts: string }>) => sql<{ last: number }>`
    insert into project_counters (project_id, counts, last) values (${p.project_id}, ${p.counts}, 1)
    on conflict (project_id, counts) do update set last = project_counters.last + 1
    returning last`,
)
const drawInGroup = statement(
  (p: Slots<{ group_id: number; counts: string }>) => sql<{ last: number }>`
    insert into namespace_counters (namespace_id, counts, last) values (${p.group_id}, ${p.counts}, 1)
    on conflict (namespace_id, counts) do update set last = namespace_counters.last + 1
    returning last`,
)

type InProject = 'pipelines' | 'issues' | 'merge_requests' | 'milestones' | 'deployments'
type InGroup = 'milestones' | 'iterations' | 'epics'

/** The next iid of its kind in a project. Call inside a transaction: others wait for it, and no number is left out. */
export async function nextInProject(db: Db, projectId: number, counts: InProject): Promise<number> {
  return (await db.insert(drawInProject, { project_id: projectId, counts })).last
}

/** The same in a group. */
export async function nextInGroup(db: Db, groupId: number, counts: InGroup): Promise<number> {
  return (await db.insert(drawInGroup, { group_id: groupId, counts })).last
}
