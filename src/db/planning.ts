import type pg from 'pg'

// How PostgreSQL plans what is sent. What has a name is planned once for each connection, for whatever values will come:
// left to itself PostgreSQL plans the first five times anew, and a list for ever where it guesses that its page is dear,
// which takes longer than to read the page. What has no name is planned for the values that come with it.

export interface Sent {
  readonly name?: string
  readonly text: string
  readonly values: unknown[]
  readonly types?: pg.CustomTypesConfig
}

/**
 * How connections begin: for the driver's `options`. A stock server compiles plans (`jit`), which takes longer than to run
 * them, takes random reads for dear, and may be set to acknowledge commits that are not on disk.
 */
export const SESSION = Object.entries({
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  random_page_cost: '1.1',
  synchronous_commit: 'on',
  default_transaction_isolation: 'read\\ committed',
  timezone: 'UTC',
})
  .map(([name, value]) => `-c ${name}=${value}`)
  .join(' ')

const plansAnew = new WeakSet<pg.ClientBase>()

/** Has a connection plan once, or anew with each statement. Outside a transaction, which could take it back. */
export async function planFor(client: pg.ClientBase, anew: boolean): Promise<void> {
  if (plansAnew.has(client) === anew) return
  await client.query(`set plan_cache_mode = ${anew ? 'force_custom_plan' : 'force_generic_plan'}`)
  if (anew) plansAnew.add(client)
  else plansAnew.delete(client)
}

/** Characters of the statements that a connection keeps planned. Each takes its process some 200 bytes, for good. */
const MAX_PLANNED_CHARACTERS = 200_000
const planned = new WeakMap<pg.ClientBase, { readonly names: Set<string>; size: number }>()

/** Takes note of a statement that a connection is about to plan, and to keep. */
export function keepPlan(client: pg.ClientBase, { name, text }: Omit<Sent, 'values'>): void {
  if (name === undefined) return
  const kept = planned.get(client) ?? { names: new Set(), size: 0 }
  if (kept.names.has(name)) return
  planned.set(client, kept)
  kept.names.add(name)
  kept.size += text.length
}

/** Whether a connection keeps so many plans that another takes its place: they go with it alone. */
export const isFull = (client: pg.ClientBase): boolean =>
  (planned.get(client)?.size ?? 0) > MAX_PLANNED_CHARACTERS
