import { sql } from 'kysely'
import { bearsAny, type Kind } from './label_walk.ts'
import { type Sql } from '../db/statement.ts'

// Orders that another, small table gives: it is walked, and of each of its rows the records, only as far as the page
// reaches; what belongs to none of the rows comes last.

/** What a record `i` is ordered by. */
export const labelPriority = sql`(
  select min(lp.priority) from label_links k
    join label_priorities lp on lp.label_id = k.label_id and lp.project_id = i.project_id
   where k.noteable_id = i.id)`
export const milestoneDue = sql`(select m.due_date from milestones m where m.id = i.milestone_id)`

interface Turn {
  readonly name: 'due' | 'ranked'
  /** Yields `id`, and the `key` that orders it. */
  readonly rows: Sql
  /** What makes `i` one of the row that bears the name. */
  readonly held: Sql
  /** What makes `i` one of none. */
  readonly rest: Sql
}

const milestones = (kind: Kind, place: Sql): Turn => ({
  name: 'due',
  rows: sql`
    select m.id, m.due_date as key
      from milestones m, projects p, namespaces n
     where p.id = ${place} and n.id = p.namespace_id and m.due_date is not null
       and (m.project_id = p.id or m.group_id = any(n.traversal_ids))
       and exists (select from ${sql.table(`${kind}s`)} i where i.milestone_id = m.id and i.project_id = p.id)`,
  held: sql`i.milestone_id = due.id`,
  rest: sql`(i.milestone_id is null or i.milestone_id not in (select id from due_rows))`,
})

const labels = (kind: Kind, place: Sql, inMilestone: boolean): Turn => ({
  name: 'ranked',
  rows: sql`
    select r.label_id as id, r.priority as key,
           array(select o.label_id from label_priorities o
                  where o.project_id = ${place} and (o.priority, o.label_id) < (r.priority, r.label_id)) as earlier
      from label_priorities r where r.project_id = ${place}`,
  // A record has its turn with the first of its labels.
  held: sql`exists (
    select from label_links k
     where k.label_id = ranked.id and k.noteable_id = i.id and k.noteable_kind = ${sql.lit(kind)}
       and k.noteable_project_id = i.project_id and k.noteable_created_at = i.created_at
       ${inMilestone ? sql`and k.noteable_milestone_id = due.id` : sql``}
       and (ranked.earlier = '{}' or not ${bearsAny(sql`ranked.earlier`)}))`,
  rest: sql`coalesce((
    select false from label_links k
     where k.noteable_id = i.id and k.label_id in (select id from ranked_rows) limit 1), true)`,
})

export type TurnOrder = 'milestone_due' | 'label_priority' | 'priority'
/** A walk through records of the project `place`, as far as a page reaches. */
export interface InTurn {
  readonly kind: Kind
  readonly order: TurnOrder
  readonly descending: boolean
  readonly place: Sql
  readonly reach: Sql
  /** What the order reads of a record. */
  readonly columns: Sql
  readonly those: Some
}
/** The records `i` that match and of which `held` is true. */
type Some = (held: Sql) => Sql

/** The records of a project in an order that other tables give; ties go by age. */
export function inTurn({ kind, order, descending, place, reach, columns, those }: InTurn): Sql {
  const way = descending ? sql`desc` : sql`asc`
  const age = sql`i.created_at ${way}, i.id ${way}`
  const byAge: Some = (held) => sql`
    select ${columns}, null::int as rank from (${those(held)}) i order by ${age} limit ${reach}`
  const turns =
    ({ name, held, rest }: Turn, inside: Some, outside: Some): Some =>
    (within) => sql`
      with first as materialized (
        select ${columns}, ${sql.ref(name)}.key as rank
          from (select * from ${sql.ref(`${name}_rows`)} order by key ${way}) ${sql.ref(name)},
               lateral (${inside(sql`${within} and ${held}`)}) i
         order by ${sql.ref(name)}.key ${way}, i.rank ${way} nulls last, ${age} limit ${reach})
      select * from first
      union all (
        select ${columns}, null from (${outside(sql`${within} and ${rest}`)}) i
         limit greatest(${reach} - (select count(*) from first), 0))`
  const [due, ranked] = [milestones(kind, place), labels(kind, place, false)]
  const over = (tables: readonly Turn[], walk: Some): Sql => sql`
    with ${sql.join(tables.map(({ name, rows }) => sql`${sql.ref(`${name}_rows`)} as materialized (${rows})`))}
    select i.* from (${walk(sql`true`)}) i`
  switch (order) {
    case 'milestone_due':
      return over([due], turns(due, byAge, byAge))
    case 'label_priority':
      return over([ranked], turns(ranked, byAge, byAge))
    case 'priority': {
      const rankedOfDue = labels(kind, place, true)
      return over([due, ranked], turns(due, turns(rankedOfDue, byAge, byAge), turns(ranked, byAge, byAge)))
    }
  }
}
