import fastify from 'fastify'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { SESSION } from '../src/db/planning.ts'
import type { Recorded } from './record.ts'

// The floor of this stack: bare routes that send the recorded statements and write the recorded response, an object
// that lies ready, as JSON. They check no rule and read no git.

export interface FloorRoute {
  readonly path: string
  /** Statements that were sent side by side stand in one wave. */
  readonly waves: readonly (readonly Recorded[])[]
  readonly answer: string
}
export interface FloorOrder {
  readonly connection: pg.ClientConfig
  readonly routes: readonly FloorRoute[]
}

async function serve({ connection, routes }: FloorOrder): Promise<number> {
  const point = new pg.Client({ ...connection, options: SESSION, pipeline: true })
  const pool = new pg.Pool({ ...connection, options: SESSION, max: 8 })
  await point.connect()
  const send = ({ lane, name, text, values }: Recorded): Promise<unknown> =>
    (lane === 'one' ? point : pool).query({ name, text, values: [...values] })
  const app = fastify()
  for (const { path, waves, answer } of routes) {
    const body: unknown = JSON.parse(answer)
    app.get(path, async (_request, reply) => {
      for (const wave of waves) await Promise.all(wave.map(send))
      return reply.header('content-type', 'application/json').send(Buffer.from(JSON.stringify(body)))
    })
  }
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}

process.once('message', (order: FloorOrder) => {
  void serve(order).then((port) => process.send?.(port))
})
