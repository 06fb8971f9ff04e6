import { sql, type RawBuilder } from 'kysely'
import { labelPriority, milestoneDue } from '../../../core/lists/records.ts'

// Orders of lists of merge requests; nulls come last.

const ORDERED = {
  created_at: sql`i.created_at`,
  updated_at: sql`i.updated_at`,
  merged_at: sql`i.merged_at`,
  title: sql`i.title`,
  popularity: sql`i.upvotes`,
  milestone_due: milestoneDue,
  label_priority: labelPriority,
  priority: labelPriority,
} as const
export type Order = keyof typeof ORDERED
export const ORDERS = Object.keys(ORDERED) as [Order, ...Order[]]

const TIES_BY_AGE: readonly Order[] = ['created_at', 'milestone_due', 'label_priority', 'priority']
/** A column that is never null is sorted as its index has it. */
const NULLABLE: readonly Order[] = ['merged_at', 'milestone_due', 'label_priority', 'priority']

/** Sort keys of the merge requests `i`. */
export function orderOf(order: Order, descending: boolean): RawBuilder<unknown> {
  const way = descending ? sql`desc` : sql`asc`
  const ties = TIES_BY_AGE.includes(order) ? sql`i.created_at ${way}, i.id ${way}` : sql`i.id ${way}`
  if (order === 'created_at') return ties
  return sql`${ORDERED[order]} ${way}${NULLABLE.includes(order) ? sql` nulls last` : sql``}, ${ties}`
}
