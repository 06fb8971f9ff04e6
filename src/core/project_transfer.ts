import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../db/client.ts'
import { statement, type Slots } from '../db/statement.ts'
import { nextInProject } from './counters.ts'
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

/** Moves a project into another namespace, with what it used of the groups it leaves. Violates as `create` of the core does. */
export async function transfer(db: Db, to: Move): Promise<void> {
  const { id, namespace_id } = to
  // Held, so that the address is right even where the namespace is being renamed or moved.
  await holdNamespace(db, namespace_id)
  await db.run(move, to)
  const place = { id, namespace_id }
  await db.run(makeLabels, place)
  await db.run(relabel, place)
  await db.run(dropPriorities, place)
  for (const lost of await db.rows(lostMilestones, place)) {
    const instead = lost.instead ?? (await copied(db, id, lost.id))
    await db.run(moveIssues, { project_id: id, from: lost.id, to: instead })
    await db.run(moveMergeRequests, { project_id: id, from: lost.id, to: instead })
  }
}

async function copied(db: Db, projectId: number, id: number): Promise<number> {
  const iid = await nextInProject(db, projectId, 'milestones')
  const row = await db.one(copyMilestone, { id, project_id: projectId, iid })
  if (row === undefined) throw new Error('a milestone went away while it was copied')
  return row.id
}
