import pg from 'pg'
import { to } from 'pg-copy-streams'
import { q, type Sql } from './statement.ts'

/** Milliseconds that a COPY may take. */
const DEADLINE = 3_600_000

/**
 * Streams the rows of a query as CSV, a header first, as fast as they are read. COPY takes no parameters, so the query
 * has none. On a connection of its own: the driver's timeout of a query outlives the stream, and a stream that is not
 * read to its end leaves its connection unusable.
 */
export async function* copyOut(settings: pg.ClientConfig, query: Sql): AsyncGenerator<Buffer> {
  const { sql, parameters } = query.compile(q)
  if (parameters.length > 0) throw new Error('COPY takes no parameters')
  const client = new pg.Client({ ...settings, statement_timeout: DEADLINE })
  // A lost connection fails the stream; without a listener the event would end the process.
  client.on('error', () => {})
  await client.connect()
  try {
    yield* client.query(to(`copy (${sql}) to stdout with (format csv, header)`)) as AsyncIterable<Buffer>
  } finally {
    await client.end()
  }
}
