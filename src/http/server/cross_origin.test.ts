import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { FastifyInstance } from 'fastify'
import { pino } from 'pino'
import { createServer } from './server.ts'

const origin = 'https://elsewhere.example'

function serve(): FastifyInstance {
  const app = createServer({ logger: pino({ level: 'silent' }), isAway: () => false, allowed: () => 'GET' })
  app.get('/api/v4/version', async () => ({}))
  app.get('/-/page', async () => ({}))
  return app
}

suite('pages of other origins', () => {
  test('may read answers of the interface and their page headers, without credentials', async () => {
    for (const url of ['/api/v4/version', '/api/v4/nothing']) {
      const { headers } = await serve().inject({ url, headers: { origin } })
      assert.equal(headers['access-control-allow-origin'], '*')
      assert.match(String(headers['access-control-expose-headers']), /^Link, X-Total, .*, ETag$/)
      assert.equal(headers['access-control-allow-credentials'], undefined)
      assert.equal(headers.vary, 'Origin')
    }
  })
  test('ask before they write, and hear that any method and header will do', async () => {
    const { statusCode, body, headers } = await serve().inject({
      method: 'OPTIONS',
      url: '/api/v4/projects/1',
      headers: {
        origin,
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'private-token, content-type',
      },
    })
    assert.deepEqual([statusCode, body], [200, ''])
    assert.equal(headers['access-control-allow-origin'], '*')
    assert.equal(headers['access-control-allow-methods'], 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS')
    assert.equal(headers['access-control-allow-headers'], 'private-token, content-type')
    assert.equal(headers['access-control-max-age'], '7200')
  })
  test('an OPTIONS that asks for nothing is a method like any other', async () => {
    const { statusCode } = await serve().inject({
      method: 'OPTIONS',
      url: '/api/v4/version',
      headers: { origin },
    })
    assert.equal(statusCode, 405)
  })
  test('nothing outside the interface is shared, and nothing with callers that name no origin', async () => {
    for (const request of [{ url: '/-/page', headers: { origin } }, { url: '/api/v4/version' }]) {
      const { headers } = await serve().inject(request)
      assert.equal(headers['access-control-allow-origin'], undefined)
    }
  })
})
