import { sql, type RawBuilder } from 'kysely'
import { labelPriority, milestoneDue } from '../../core/lists/records.ts'

// Orders of lists of issues. Nulls come last; ties go by age in the same direction.

export const ORDERS = [
  ...(['created_at', 'updated_at', 'priority', 'due_date', 'relative_position', 'label_priority'] as const),
  ...(['milestone_due', 'popularity', 'weight', 'title'] as const),
]
export type OrderName = (typeof ORDERS)[number]

export interface Order {
  readonly order: OrderName
  readonly descending: boolean
}

/** Sort keys of the issues `i`. */
export function orderOf({ order, descending }: Order): RawBuilder<unknown> {
  const way = descending ? sql`desc` : sql`asc`
  const last = (value: RawBuilder<unknown>): RawBuilder<unknown> => sql`${value} ${way} nulls last`
  const age = sql`i.created_at ${way}, i.id ${way}`
  switch (order) {
    case 'created_at':
      return age
    case 'relative_position':
      return sql`i.id ${way}`
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
  }
}
