import pg from 'pg'

/** What the database did for one statement. */
export interface Plan {
  readonly text: string
  readonly blocks: number
}
interface Sent {
  readonly name?: string
  readonly text: string
  readonly values?: readonly unknown[]
}
type Query = (sent: Sent) => Promise<pg.QueryResult<Record<'QUERY PLAN', string>>>

const cell = (value: unknown): string => (value === null ? 'null' : JSON.stringify(value))
function literal(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (Array.isArray(value)) return pg.escapeLiteral(`{${value.map(cell).join()}}`)
  return pg.escapeLiteral(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Runs once more what was sent, as the connection has planned it. */
async function explain(query: Query, { name, text, values = [] }: Sent): Promise<Plan> {
  const how = 'explain (analyze, buffers)'
  const given = values.length === 0 ? '' : `(${values.map(literal).join()})`
  const { rows } = await query(
    name === undefined
      ? { text: `${how} ${text}`, values }
      : { text: `${how} execute ${pg.escapeIdentifier(name)}${given}` },
  )
  const lines = rows.map((row) => row['QUERY PLAN'])
  // The first count of blocks is that of the whole.
  const buffers = lines.find((line) => line.includes('Buffers:')) ?? ''
  const [, hit = 0, read = 0] = /shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(buffers) ?? []
  return { text: lines.join('\n'), blocks: Number(hit) + Number(read) }
}

/** Runs `work`, and each list that it asks of the pool once more with an account of it. */
export async function watch(pool: pg.Pool, work: () => Promise<unknown>): Promise<Plan[]> {
  const plans: Plan[] = []
  const watched = new Set<pg.PoolClient>()
  const connect = pool.connect.bind(pool)
  Object.assign(pool, {
    connect: async () => {
      const client = await connect()
      if (watched.has(client)) return client
      watched.add(client)
      const query: Query = client.query.bind(client)
      return Object.assign(client, {
        query: async (sent: Sent | string) => {
          if (typeof sent === 'string') return query({ text: sent })
          const result = await query(sent)
          if (/^\s*(select|with)/.test(sent.text)) plans.push(await explain(query, sent))
          return result
        },
      })
    },
  })
  try {
    await work()
  } finally {
    Reflect.deleteProperty(pool, 'connect')
    for (const client of watched) Reflect.deleteProperty(client, 'query')
  }
  return plans
}
