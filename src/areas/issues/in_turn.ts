import { sql, type RawBuilder } from 'kysely'
import type { Order } from './orders.ts'

// Orders that another, small table gives: it is walked, and of each of its rows the issues, only as far as the page
// reaches; what belongs to none of the rows comes last.

interface Turn {
  readonly name: string
  /** Yields `id`, and the `key` that orders it. */
  readonly rows: RawBuilder<unknown>
  /** What makes `i` one of the row `v`. */
  readonly held: RawBuilder<unknown>
  /** What makes `i` one of none. */
  readonly rest: RawBuilder<unknown>
}
type Place = RawBuilder<number>

const milestones = (place: Place): Turn => ({
  name: 'due',
  rows: sql`
    select m.id, m.due_date as key
      from milestones m, projects p, namespaces n
     where p.id = ${place} and n.id = p.namespace_id and m.due_date is not null
       and (m.project_id = p.id or m.group_id = any(n.traversal_ids))
       and exists (select from issues i where i.milestone_id = m.id and i.project_id = p.id)`,
  held: sql`i.milestone_id = v.id`,
  rest: sql`(i.milestone_id is null or i.milestone_id not in (select id from due))`,
})

const labels = (place: Place): Turn => ({
  name: 'ranked',
  rows: sql`select label_id as id, priority as key from label_priorities where project_id = ${place}`,
  // An issue has its turn with the first of its labels.
  held: sql`
    exists (select from label_links k where k.label_id = v.id and k.noteable_id = i.id
                                        and k.issue_project_id = i.project_id and k.issue_created_at = i.created_at)
    and coalesce((select false from label_links k join ranked o on o.id = k.label_id
                   where k.noteable_id = i.id and (o.key, o.id) < (v.key, v.id) limit 1), true)`,
  rest: sql`coalesce((
    select false from label_links k where k.noteable_id = i.id and k.label_id in (select id from ranked) limit 1), true)`,
})

/** A walk through issues of the project `place`, as far as a page in `order` reaches. */
export interface Walk {
  readonly order: Order
  readonly place: Place
  readonly reach: RawBuilder<unknown>
  /** What the order reads of an issue. */
  readonly columns: RawBuilder<unknown>
  readonly those: Some
}
/** The issues `i` that match and of which `held` is true. */
type Some = (held: RawBuilder<unknown>) => RawBuilder<unknown>

/** The issues of a project in an order that other tables give. */
export function inTurn({ order, place, reach, columns, those }: Walk): RawBuilder<unknown> | undefined {
  const way = order.descending ? sql`desc` : sql`asc`
  const age = sql`i.created_at ${way}, i.id ${way}`
  const byAge: Some = (held) => sql`
    select ${columns}, null::int as rank from (${those(held)}) i order by ${age} limit ${reach}`
  // All of a milestone are looked at: a label that most bear may stand on none of them.
  const byRank: Some = (held) => sql`
    select ${columns}, (select min(ranked.key) from label_links k join ranked on ranked.id = k.label_id
                         where k.noteable_id = i.id) as rank
      from (${those(held)}) i order by rank ${way} nulls last, ${age} limit ${reach}`
  const turns =
    ({ name, held, rest }: Turn, inside: Some, outside: Some): Some =>
    (within) => sql`
      with first as materialized (
        select ${columns}, v.key as rank
          from (select * from ${sql.ref(name)} order by key ${way}) v,
               lateral (${inside(sql`${within} and ${held}`)}) i
         order by v.key ${way}, i.rank ${way} nulls last, ${age} limit ${reach})
      select * from first
      union all (
        select ${columns}, null from (${outside(sql`${within} and ${rest}`)}) i
         limit greatest(${reach} - (select count(*) from first), 0))`
  const [due, ranked] = [milestones(place), labels(place)]
  const over = (tables: readonly Turn[], walk: Some): RawBuilder<unknown> => sql`
    with ${sql.join(tables.map(({ name, rows }) => sql`${sql.ref(name)} as materialized (${rows})`))}
    select i.* from (${walk(sql`true`)}) i`
  switch (order.order) {
    case 'milestone_due':
      return over([due], turns(due, byAge, byAge))
    case 'label_priority':
      return over([ranked], turns(ranked, byAge, byAge))
    case 'priority':
      return over([due, ranked], turns(due, byRank, turns(ranked, byAge, byAge)))
    default:
      return undefined
  }
}
