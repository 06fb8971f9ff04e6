import fastify from 'fastify'
import type { AddressInfo } from 'node:net'
import pg from 'pg'

// The floor of storing: a bare route that answers once the body is in one durable row.

process.once('message', (connection: pg.ClientConfig) => {
  void serve(connection).then((port) => process.send?.(port))
})

async function serve(connection: pg.ClientConfig): Promise<number> {
  const pool = new pg.Pool({ ...connection, max: 8 })
  await pool.query('create table if not exists bench_floor (body json)')
  const app = fastify({ bodyLimit: 1024 * 1024 })
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
    done(null, body),
  )
  app.post('/', async (request, reply) => {
    await pool.query({
      name: 'insert',
      text: 'insert into bench_floor (body) values ($1)',
      values: [request.body],
    })
    return reply.header('content-type', 'application/json').send('[]')
  })
  await app.listen({ host: '127.0.0.1', port: 0 })
  return (app.server.address() as AddressInfo).port
}
