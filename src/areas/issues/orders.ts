import { sql, type RawBuilder } from 'kysely'
import { labelPriority, milestoneDue } from '../../core/in_turn.ts'
import type { ListOrder } from '../../core/record_list.ts'

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

/** How the issues `i` are ordered. */
export function orderOf({ order, descending }: Order): ListOrder {
  const way = descending ? sql`desc` : sql`asc`
  const last = (value: RawBuilder<unknown>): RawBuilder<unknown> => sql`${value} ${way} nulls last`
  const age = sql`i.created_at ${way}, i.id ${way}`
  const walks = (walked: ListOrder['walked'], by: RawBuilder<unknown>): ListOrder => ({
    by,
    columns: sql.join(['id', ...ORDERED[order]].map((name) => sql.ref(`i.${name}`))),
    descending,
    walked,
  })
  switch (order) {
    case 'created_at':
      return walks(order, age)
    case 'relative_position':
      return walks('id', sql`i.id ${way}`)
    case 'updated_at':
      return walks('of all', sql`i.updated_at ${way}, i.id ${way}`)
    case 'due_date':
    case 'weight':
      return walks('of each', sql`${last(sql.ref(`i.${order}`))}, i.id ${way}`)
    case 'title':
      return walks('of each', sql`lower(i.title) ${way}, i.id ${way}`)
    case 'popularity':
      return walks('of each', sql`i.upvotes ${way}, i.id ${way}`)
    case 'milestone_due':
      return walks(order, sql`${last(milestoneDue)}, ${age}`)
    case 'label_priority':
      return walks(order, sql`${last(labelPriority)}, ${age}`)
    case 'priority':
      return walks(order, sql`${last(milestoneDue)}, ${last(labelPriority)}, ${age}`)
  }
}
