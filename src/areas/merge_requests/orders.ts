import { sql } from 'kysely'
import { labelPriority, milestoneDue } from '../../core/in_turn.ts'
import type { ListOrder } from '../../core/record_list.ts'

// How lists of merge requests are ordered; what has nothing to be ordered by comes last.

const ORDERED = {
  created_at: { by: sql`i.created_at`, columns: ['created_at'], walked: 'created_at' },
  updated_at: { by: sql`i.updated_at`, columns: ['updated_at'], walked: 'of all' },
  merged_at: { by: sql`i.merged_at`, columns: ['merged_at'], walked: 'of each' },
  title: { by: sql`i.title`, columns: ['title'], walked: 'of each' },
  popularity: { by: sql`i.upvotes`, columns: ['upvotes'], walked: 'of each' },
  milestone_due: { by: milestoneDue, columns: ['created_at', 'milestone_id'], walked: 'milestone_due' },
  label_priority: { by: labelPriority, columns: ['created_at', 'project_id'], walked: 'label_priority' },
  priority: { by: labelPriority, columns: ['created_at', 'project_id'], walked: 'label_priority' },
} as const
export type Order = keyof typeof ORDERED
export const ORDERS = Object.keys(ORDERED) as [Order, ...Order[]]

/** How the merge requests \`i\` are ordered. What stands in an index is walked along it: nulls come last only where there can be some. */
export function orderOf(order: Order, descending: boolean): ListOrder {
  const { by, columns, walked } = ORDERED[order]
  const way = descending ? sql`desc` : sql`asc`
  const age = columns.includes('created_at' as never)
    ? sql`i.created_at ${way}, i.id ${way}`
    : sql`i.id ${way}`
  const last = ['merged_at', 'milestone_due', 'label_priority', 'priority'].includes(order)
  return {
    by: order === 'created_at' ? age : sql`${by} ${way}${last ? sql` nulls last` : sql``}, ${age}`,
    columns: sql.join(['id', ...columns].map((name) => sql.ref(`i.${name}`))),
    descending,
    walked,
  }
}
