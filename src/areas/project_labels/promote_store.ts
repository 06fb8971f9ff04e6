import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import type { Label } from '../../db/schema/tables.ts'
import { statement, type Slots } from '../../db/statement.ts'

// Those who promote labels of one group stand in line, so that each finds what the one before has made.
const lockGroup = statement(
  (p: Slots<{ group_id: number }>) => sql`select from namespaces where id = ${p.group_id} for no key update`,
)
interface Ids {
  readonly group_id: number
  readonly id: number
}
const lift = statement(
  (p: Slots<Ids>) => sql<Label>`
    update labels l set group_id = ${p.group_id}, project_id = null, updated_at = now()
     where l.id = ${p.id} and l.project_id is not null
       and not exists (select from labels o where o.group_id = ${p.group_id} and o.title = l.title)
    returning *`,
)
const known = statement(
  (p: Slots<{ group_id: number; title: string }>) =>
    sql<Label>`select * from labels where group_id = ${p.group_id} and title = ${p.title}`,
)
interface Merge {
  readonly group_id: number
  readonly id: number
  readonly title: string
}
const same = (p: Slots<Merge>) => sql`(
  select l.id from labels l join projects p on p.id = l.project_id
   where p.namespace_id = ${p.group_id} and l.title = ${p.title})`
const STEPS = [
  statement(
    (p: Slots<Merge>) => sql`
      insert into label_links (label_id, noteable_id)
      select distinct ${p.id}::bigint, noteable_id from label_links where label_id in ${same(p)}
      on conflict do nothing`,
  ),
  statement(
    (p: Slots<Merge>) => sql`
      insert into label_subscriptions (label_id, user_id)
      select distinct ${p.id}::bigint, user_id from label_subscriptions where label_id in ${same(p)}
      on conflict do nothing`,
  ),
  statement(
    (p: Slots<Merge>) => sql`
      insert into label_priorities (project_id, label_id, priority)
      select project_id, ${p.id}::bigint, min(priority) from label_priorities where label_id in ${same(p)}
       group by project_id
      on conflict do nothing`,
  ),
  statement(
    (p: Slots<Merge>) =>
      sql`update resource_label_events set label_id = ${p.id} where label_id in ${same(p)}`,
  ),
  statement((p: Slots<Merge>) => sql`delete from labels where id in ${same(p)}`),
]

/**
 * Makes a project's label one of its group, and merges those of that title of the group's other projects into it. It
 * keeps its id unless the group has such a label already. Undefined when the label is none of a project any more.
 */
export async function promote(db: Db, groupId: number, label: Label): Promise<Label | undefined> {
  await db.run(lockGroup, { group_id: groupId })
  const made =
    (await db.one(lift, { group_id: groupId, id: label.id })) ??
    (await db.one(known, { group_id: groupId, title: label.title }))
  if (made === undefined) return undefined
  for (const step of STEPS) await db.run(step, { group_id: groupId, id: made.id, title: made.title })
  return made
}
