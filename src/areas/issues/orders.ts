import { sql, type RawBuilder } from 'kysely'

// How lists of issues are ordered. Ties go by age, the same way; what has nothing to be ordered by comes last.

const ORDERED = {
  created_at: ['created_at'],
  updated_at: ['updated_at'],
  priority: ['created_at', 'milestone_id', 'project_id'],
  due_date: ['due_date'],
  relative_position: [],
  label_priority: ['created_at', 'project_id'],
  milestone_due: ['created_at', 'milestone_id'],
  popularity: ['upvotes'],
  weight: ['weight'],
  title: ['title'],
} as const satisfies Record<string, readonly string[]>
export type OrderName = keyof typeof ORDERED
export const ORDERS = Object.keys(ORDERED) as OrderName[]

export interface Order {
  readonly order: OrderName
  readonly descending: boolean
}

/** What `orderBy` reads of the issues `i`. */
export const columnsOf = (order: OrderName): RawBuilder<unknown> =>
  sql.join(['id', ...ORDERED[order]].map((name) => sql.ref(`i.${name}`)))

const labelPriority = sql`(
  select min(lp.priority) from label_links k
    join label_priorities lp on lp.label_id = k.label_id and lp.project_id = i.project_id
   where k.noteable_id = i.id)`
const milestoneDue = sql`(select m.due_date from milestones m where m.id = i.milestone_id)`

/** How the issues `i` are ordered. */
export function orderBy({ order, descending }: Order): RawBuilder<unknown> {
  const way = descending ? sql`desc` : sql`asc`
  const last = (value: RawBuilder<unknown>): RawBuilder<unknown> => sql`${value} ${way} nulls last`
  const age = sql`i.created_at ${way}, i.id ${way}`
  switch (order) {
    case 'created_at':
      return age
    case 'updated_at':
      return sql`i.updated_at ${way}, i.id ${way}`
    case 'due_date':
    case 'weight':
      return sql`${last(sql.ref(`i.${order}`))}, i.id ${way}`
    case 'title':
      return sql`lower(i.title) ${way}, i.id ${way}`
    case 'popularity':
      return sql`i.upvotes ${way}, i.id ${way}`
    case 'milestone_due':
      return sql`${last(milestoneDue)}, ${age}`
    case 'label_priority':
      return sql`${last(labelPriority)}, ${age}`
    case 'priority':
      return sql`${last(milestoneDue)}, ${last(labelPriority)}, ${age}`
    case 'relative_position':
      return sql`i.id ${way}`
  }
}
