import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { nextInProject } from '../values/counters.ts'
import { holdNamespace } from './groups.ts'

interface Move {
  readonly id: number
  readonly namespace_id: number
  readonly visibility: string
}
const move = statement(
  (p: Slots<Move>) => sql`
    update projects p
       set namespace_id = n.id, full_path = n.full_path || '/' || p.path, visibility = ${p.visibility}, updated_at = now()
      from namespaces n
     where p.id = ${p.id} and n.id = ${p.namespace_id}`,
)

const items = (project: RawBuilder<unknown>): RawBuilder<unknown> => sql`(
  select id from issues where project_id = ${project}
  union all select id from merge_requests where project_id = ${project})`
const line = (namespace: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`(select unnest(traversal_ids) from namespaces where id = ${namespace})`

interface Place {
  readonly id: number
  readonly namespace_id: number
}
// A label of a group that the project leaves is of no use to it, and not its members' to see: the new line's label of
// that title takes its place, else one of the project itself.
const makeLabels = statement(
  (p: Slots<Place>) => sql`
    insert into labels (project_id, title, color, description)
    select distinct on (l.title) ${p.id}::bigint, l.title, l.color, l.description
      from label_links k join labels l on l.id = k.label_id
     where k.noteable_id in ${items(p.id)} and l.group_id is not null
       and l.group_id not in ${line(p.namespace_id)}
       and not exists (select from labels o where o.title = l.title and o.group_id in ${line(p.namespace_id)})
     order by l.title, l.id
    on conflict (project_id, title) where project_id is not null do nothing`,
)
const relabel = statement(
  (p: Slots<Place>) => sql`
    with lost as (
      select k.noteable_id, k.label_id,
             coalesce((select min(o.id) from labels o
                        where o.title = l.title and o.group_id in ${line(p.namespace_id)}),
                      (select o.id from labels o where o.title = l.title and o.project_id = ${p.id})) as instead
        from label_links k join labels l on l.id = k.label_id
       where k.noteable_id in ${items(p.id)} and l.group_id is not null
         and l.group_id not in ${line(p.namespace_id)}),
    gone as (
      delete from label_links k using lost where k.noteable_id = lost.noteable_id and k.label_id = lost.label_id)
    insert into label_links (label_id, noteable_id)
    select distinct instead, noteable_id from lost where instead is not null
    on conflict do nothing`,
)
const dropPriorities = statement(
  (p: Slots<Place>) => sql`
    delete from label_priorities r using labels l
     where r.project_id = ${p.id} and l.id = r.label_id and l.group_id is not null
       and l.group_id not in ${line(p.namespace_id)}`,
)

const lostMilestones = statement(
  (p: Slots<Place>) => sql<{ id: number; instead: number | null }>`
    select m.id, (select min(o.id) from milestones o
                   where o.title = m.title and (o.project_id = ${p.id} or o.group_id in ${line(p.namespace_id)})) as instead
      from milestones m
     where m.group_id is not null and m.group_id not in ${line(p.namespace_id)}
       and m.id in (select milestone_id from issues where project_id = ${p.id} and milestone_id is not null
                    union select milestone_id from merge_requests where project_id = ${p.id} and milestone_id is not null)
     order by m.id`,
)
const copyMilestone = statement(
  (p: Slots<{ id: number; project_id: number; iid: number }>) => sql<{ id: number }>`
    insert into milestones (iid, project_id, title, description, state, start_date, due_date)
    select ${p.iid}, ${p.project_id}, title, description, state, start_date, due_date from milestones where id = ${p.id}
    returning id`,
)
const moveIssues = statement(
  (p: Slots<{ project_id: number; from: number; to: number }>) =>
    sql`update issues set milestone_id = ${p.to} where project_id = ${p.project_id} and milestone_id = ${p.from}`,
)
const moveMergeRequests = statement(
  (p: Slots<{ project_id: number; from: number; to: number }>) =>
    sql`update merge_requests set milestone_id = ${p.to} where project_id = ${p.project_id} and milestone_id = ${p.from}`,
)

const moveMilestoneEvents = statement(
  (p: Slots<{ project_id: number; from: number; to: number }>) => sql`
    update resource_milestone_events set milestone_id = ${p.to}
     where milestone_id = ${p.from} and noteable_id in ${items(p.project_id)}`,
)

// Epics and iterations are of groups alone, so what is left behind has no heir; nor has what once was and is no more.
const dropTimeboxes = statement(
  (p: Slots<Place>) => sql`
    update issues i
       set epic_id = (select e.id from epics e where e.id = i.epic_id and e.group_id in ${line(p.namespace_id)}),
           iteration_id = (select t.id from iterations t
                            where t.id = i.iteration_id and t.group_id in ${line(p.namespace_id)})
     where i.project_id = ${p.id}
       and (exists (select from epics e where e.id = i.epic_id and e.group_id not in ${line(p.namespace_id)})
            or exists (select from iterations t
                        where t.id = i.iteration_id and t.group_id not in ${line(p.namespace_id)}))`,
)
const forgetting = (
  [
    ['resource_label_events', 'noteable_id', 'labels', 'label_id'],
    ['resource_milestone_events', 'noteable_id', 'milestones', 'milestone_id'],
    ['resource_iteration_events', 'issue_id', 'iterations', 'iteration_id'],
  ] as const
).map(([events, on, table, column]) =>
  statement(
    (p: Slots<Place>) => sql`
      update ${sql.table(events)} e set ${sql.ref(column)} = null from ${sql.table(table)} o
       where e.${sql.ref(on)} in ${items(p.id)} and o.id = e.${sql.ref(column)}
         and o.group_id is not null and o.group_id not in ${line(p.namespace_id)}`,
  ),
)

/** Moves a project into another namespace, with what it used of the groups it leaves. Violates as `create` of the core does. */
export async function transfer(db: Db, to: Move): Promise<void> {
  const { id, namespace_id } = to
  // Held, so that the address is right even where the namespace is being renamed or moved.
  await holdNamespace(db, namespace_id)
  await db.run(move, to)
  await leaveGroups(db, { id, namespace_id })
}

/** Takes from a project whatever is of groups that it is not in any more, and gives it its own where there can be. */
async function leaveGroups(db: Db, place: Place): Promise<void> {
  const { id } = place
  await db.run(makeLabels, place)
  await db.run(relabel, place)
  await db.run(dropPriorities, place)
  for (const lost of await db.rows(lostMilestones, place)) {
    const instead = lost.instead ?? (await copied(db, id, lost.id))
    for (const moving of [moveIssues, moveMergeRequests, moveMilestoneEvents])
      await db.run(moving, { project_id: id, from: lost.id, to: instead })
  }
  await db.run(dropTimeboxes, place)
  for (const forget of forgetting) await db.run(forget, place)
}

// Found from what the groups have, which is little, not from all that the projects have.
const borrowers = statement(
  (p: Slots<{ group_id: number; left: readonly number[] }>) => sql<Place>`
    with borrowed as (
      select i.project_id from labels l join label_links k on k.label_id = l.id join issues i on i.id = k.noteable_id
       where l.group_id = any(${p.left}::bigint[])
      union select m.project_id from labels l join label_links k on k.label_id = l.id
              join merge_requests m on m.id = k.noteable_id
             where l.group_id = any(${p.left}::bigint[])
      union select i.project_id from milestones s join issues i on i.milestone_id = s.id
             where s.group_id = any(${p.left}::bigint[])
      union select m.project_id from milestones s join merge_requests m on m.milestone_id = s.id
             where s.group_id = any(${p.left}::bigint[])
      union select i.project_id from epics e join issues i on i.epic_id = e.id
             where e.group_id = any(${p.left}::bigint[])
      union select i.project_id from iterations t join issues i on i.iteration_id = t.id
             where t.group_id = any(${p.left}::bigint[]))
    select p.id, p.namespace_id from borrowed b join projects p on p.id = b.project_id
      join namespaces n on n.id = p.namespace_id
     where n.traversal_ids @> array[${p.group_id}::bigint] order by p.id`,
)

/** The same for every project below a group that was moved out of the groups `left`. */
export async function leaveGroupsBelow(db: Db, groupId: number, left: readonly number[]): Promise<void> {
  if (left.length === 0) return
  for (const place of await db.rows(borrowers, { group_id: groupId, left })) await leaveGroups(db, place)
}

async function copied(db: Db, projectId: number, id: number): Promise<number> {
  const iid = await nextInProject(db, projectId, 'milestones')
  const row = await db.insert(copyMilestone, { id, project_id: projectId, iid })
  return row.id
}
