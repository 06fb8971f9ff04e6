import { sql, type RawBuilder } from 'kysely'
import { paged, type Paging } from '../../db/pages.ts'
import type { Sql } from '../../db/statement.ts'
import { homeOf } from '../sight/roles.ts'
import { mine, type CallerSlots } from '../sight/callers.ts'

// Lists of issues and of merge requests: one plain statement each. An area names its conditions, its orders and who sees what.

export type Kind = 'issue' | 'merge_request'

/** A list of the records `i`, as parts of its statement. */
export interface RecordList {
  readonly kind: Kind
  readonly in: 'project' | 'group' | 'everywhere'
  readonly p: CallerSlots & { readonly place: Sql; readonly limit: Sql; readonly offset: Sql }
  /** Filters on `i`. */
  readonly conditions: readonly Sql[]
  /** Whether the viewer, with a role in its project, sees `i`. */
  readonly sees: (role: Sql) => Sql
  /** Whether the list shows the project `p` at `n`, and the viewer's role there; not read where the project is given. */
  readonly projects: { readonly shown: Sql; readonly role: Sql }
}

/** The `columns` of all records that match, unordered. */
export function matching(list: RecordList, columns: Sql): Sql {
  const { kind, p, sees, projects } = list
  const records = sql`${sql.table(`${kind}s`)} i`
  const conditions = sql.join([sql`true`, ...list.conditions], sql` and `)
  switch (list.in) {
    case 'project':
      return sql`
        select ${columns} from ${records}
         where i.project_id = ${p.place} and ${sees(sql`0`)} and ${conditions}`
    // Sight is decided once for each project of the group, not for each record.
    case 'group':
      return sql`
        with ${mine(p)}, places as materialized (
          select p.id, ${projects.role} as role from projects p, ${homeOf} n
           where p.namespace_id = any(array(
                   select d.id from namespaces d where d.traversal_ids @> array[${p.place}::bigint]))
             and ${projects.shown})
        select ${columns} from ${records} join places v on v.id = i.project_id
         where ${sees(sql`v.role`)} and ${conditions}`
    case 'everywhere':
      return sql`
        with ${mine(p)}
        select ${columns} from ${records} join projects p on p.id = i.project_id, ${homeOf} n
         where ${projects.shown} and ${sees(projects.role)} and ${conditions}`
  }
}

/** One page in an order, and its total. */
export const listPage = <Row>(
  list: RecordList,
  order: Sql,
  shown: (chosen: Sql) => RawBuilder<Row>,
): Paging<Row> =>
  paged(
    shown(sql`${matching(list, sql`i.id`)} order by ${order} limit ${list.p.limit} offset ${list.p.offset}`),
    matching(list, sql``),
  )

/** By the most urgent label of the record `i`, as its project ranks them. */
export const labelPriority = sql`(
  select min(lp.priority) from label_links k
    join label_priorities lp on lp.label_id = k.label_id and lp.project_id = i.project_id
   where k.noteable_id = i.id)`
/** By the due date of its milestone. */
export const milestoneDue = sql`(select m.due_date from milestones m where m.id = i.milestone_id)`

/** Whether somebody reacted to the record `i`, with an emoji that `which` chooses of the reaction `e`. */
export const reacted = (user: Sql, which: Sql = sql`true`): Sql =>
  sql`exists (select from award_emoji e where e.noteable_id = i.id and e.user_id = ${user} and ${which})`
