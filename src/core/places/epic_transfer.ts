import { sql } from 'kysely'
import type { Db } from '../../db/db.ts'
import { statement, type Slots } from '../../db/statement.ts'
import { below } from '../sight/roles.ts'

interface Left {
  readonly group_id: number
  /** The groups that the group is not in any more. */
  readonly left: readonly number[]
}

// An epic bears what its group and those above have. Labels of groups left behind are not its readers' to see: the new
// line's label of that title takes their place, else one of the group that moved.
const borrowed = (p: Slots<Left>) => sql`
  select k.noteable_id, k.label_id, l.title, l.color, l.description, n.traversal_ids as line
    from ${below(sql`${p.group_id}::bigint`)} d
    join namespaces n on n.id = d.id
    join epics e on e.group_id = d.id
    join label_links k on k.noteable_id = e.id
    join labels l on l.id = k.label_id
   where l.group_id = any(${p.left}::bigint[])`
const makeLabels = statement(
  (p: Slots<Left>) => sql`
    insert into labels (group_id, title, color, description)
    select distinct on (b.title) ${p.group_id}::bigint, b.title, b.color, b.description
      from (${borrowed(p)}) b
     where not exists (select from labels o where o.title = b.title and o.group_id = any(b.line))
     order by b.title, b.label_id
    on conflict (group_id, title) where group_id is not null do nothing`,
)
const relabel = statement(
  (p: Slots<Left>) => sql`
    with lost as materialized (
      select b.noteable_id, b.label_id,
             (select min(o.id) from labels o where o.title = b.title and o.group_id = any(b.line)) as instead
        from (${borrowed(p)}) b),
    gone as (
      delete from label_links k using lost where k.noteable_id = lost.noteable_id and k.label_id = lost.label_id)
    insert into label_links (label_id, noteable_id)
    select distinct instead, noteable_id from lost where instead is not null
    on conflict do nothing`,
)
const forget = statement(
  (p: Slots<Left>) => sql`
    update resource_label_events v set label_id = null
      from ${below(sql`${p.group_id}::bigint`)} d join epics e on e.group_id = d.id, labels l
     where v.noteable_id = e.id and l.id = v.label_id and l.group_id = any(${p.left}::bigint[])`,
)
const orphan = statement(
  (p: Slots<Left>) => sql`
    update epics e set parent_id = null, updated_at = now()
      from epics parent
     where parent.id = e.parent_id
       and (e.group_id in (select d.id from ${below(sql`${p.group_id}::bigint`)} d)
            and parent.group_id = any(${p.left}::bigint[])
         or e.group_id = any(${p.left}::bigint[])
            and parent.group_id in (select d.id from ${below(sql`${p.group_id}::bigint`)} d))`,
)

/** Takes from the epics below a group that was moved whatever is of the groups that they left. */
export async function leaveGroupsWithEpics(db: Db, group_id: number, left: readonly number[]): Promise<void> {
  if (left.length === 0) return
  for (const one of [makeLabels, relabel, forget, orphan]) await db.run(one, { group_id, left })
}
