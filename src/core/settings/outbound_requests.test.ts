import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { OutboundFault, openOutbound, type Outbound, type OutboundLimits } from './outbound_requests.ts'

const settings = { get: () => true as never }

async function serve(
  context: TestContext,
  answer: RequestListener,
  limits?: Partial<OutboundLimits>,
): Promise<{ outbound: Outbound; server: Server; url: URL }> {
  const server = createServer(answer)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const outbound = openOutbound({ settings, limits })
  context.after(async () => {
    outbound.close()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return { outbound, server, url: new URL(`http://localhost:${(server.address() as AddressInfo).port}/x?y`) }
}

test('the host is named as in the address, while the checked IP address is connected to', async (context) => {
  const { outbound, url } = await serve(context, (request, response) =>
    response.end(`${request.method} ${request.headers.host} ${request.url}`),
  )
  const { status, body } = await outbound.send({ method: 'GET', url, headers: {} })
  assert.deepEqual([status, body.toString()], [200, `GET ${url.host} /x?y`])
})

test('a server that stops responding is not asked again for a while', async (context) => {
  let asked = 0
  const { outbound, url } = await serve(
    context,
    (request) => {
      asked++
      request.socket.destroy()
    },
    { failures: 3, open_ms: 60_000 },
  )
  const kinds: unknown[] = []
  for (let i = 0; i < 5; i++)
    await outbound
      .send({ method: 'GET', url, headers: {} })
      .catch((error: unknown) => kinds.push(error instanceof OutboundFault && error.kind))
  assert.deepEqual([kinds, asked], [['unreachable', 'unreachable', 'unreachable', 'open', 'open'], 3])
})

test('a request is sent again where the server closed the reused connection', async (context) => {
  let requests = 0
  const { outbound, url } = await serve(context, (request, response) => {
    requests++
    if (requests === 2) return void request.socket.destroy()
    response.end('ok')
  })
  for (let i = 0; i < 2; i++)
    assert.equal((await outbound.send({ method: 'POST', url, headers: {}, body: '{}' })).status, 200)
  assert.equal(requests, 3)
})
