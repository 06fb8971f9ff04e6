import { sql } from 'kysely'
import type { Db } from '../src/db/db.ts'
import { statement, type Slots } from '../src/db/statement.ts'

/** 10,000 milestones of a group, and 200 issues of a project at one of them that were closed, some of them reopened. */
const records = (group: number, project: number): string => `
  begin;
  insert into milestones (group_id, iid, title, description, state, start_date, due_date)
    select ${group}, i, 'Milestone ' || i, 'What is done in milestone ' || i,
           case i % 4 when 0 then 'closed' else 'active' end, date '2020-01-01' + i, date '2020-01-15' + i
      from generate_series(1, 10000) i;
  insert into issues (iid, project_id, title, state, weight, milestone_id, created_at)
    select 500000 + i, ${project}, 'Planned ' || i, case i % 2 when 0 then 'closed' else 'opened' end, i % 8,
           (select min(id) from milestones where group_id = ${group}), now() - i * interval '1 hour'
      from generate_series(1, 200) i;
  insert into resource_milestone_events (noteable_id, milestone_id, action, state, created_at)
    select id, milestone_id, 'add', 'opened', created_at from issues where milestone_id is not null;
  insert into resource_weight_events (issue_id, weight, created_at)
    select id, weight, created_at from issues where milestone_id is not null;
  insert into resource_state_events (noteable_id, state, created_at)
    select id, 'closed', created_at + interval '10 minutes' from issues where milestone_id is not null
    union all
    select id, 'reopened', created_at + interval '20 minutes' from issues where milestone_id is not null and state = 'opened';
  commit;`

const first = statement(
  (p: Slots<{ group_id: number }>) => sql<{ id: number }>`
    select min(id) as id from milestones where group_id = ${p.group_id}`,
)

/** Answers the id of the milestone that issues stand at. */
export async function fillPlanning(db: Db, group: number, project: number): Promise<number> {
  await db.script(records(group, project))
  const row = await db.one(first, { group_id: group })
  return row?.id ?? 0
}
