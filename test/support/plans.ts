import type pg from 'pg'

/** What the database did for one statement. */
export interface Plan {
  readonly text: string
  readonly blocks: number
}
interface Sent {
  readonly text: string
  readonly values?: unknown[]
}

/** Runs `work`, and each list that it asks of the pool once more with an account of it. */
export async function watch(pool: pg.Pool, work: () => Promise<void>): Promise<Plan[]> {
  const sent: Sent[] = []
  const query = pool.query.bind(pool)
  Object.assign(pool, {
    query: (given: Sent) => {
      sent.push(given)
      return query(given)
    },
  })
  try {
    await work()
  } finally {
    Object.assign(pool, { query })
  }
  const plans: Plan[] = []
  for (const { text, values } of sent) {
    if (!/^\s*(select|with)/.test(text)) continue
    const { rows } = await query<Record<'QUERY PLAN', string>>({
      text: `explain (analyze, buffers) ${text}`,
      values: values ?? [],
    })
    const lines = rows.map((row) => row['QUERY PLAN'])
    // The first count of blocks is that of the whole.
    const counts = /shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(
      lines.find((line) => line.includes('Buffers:')) ?? '',
    )
    plans.push({ text: lines.join('\n'), blocks: Number(counts?.[1] ?? 0) + Number(counts?.[2] ?? 0) })
  }
  return plans
}
