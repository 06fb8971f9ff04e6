/* The server is killed after it acknowledged a write and before its webhooks were sent. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { killServer, openPlace, until, type Place, type Running } from '../support/program.ts'
import { openReceiver, type Receiver } from '../support/webhook_receiver.ts'

const TOKEN = 'a-token-that-outlives-every-crash'

let place: Place
let receiver: Receiver
before(async () => {
  receiver = await openReceiver()
  place = await openPlace({ GUILDHALL_ROOT_TOKEN: TOKEN, LOG_LEVEL: 'warn' })
})
after(async () => {
  await place.clear()
  await receiver.close()
})

async function call<Body>(server: Running, wanted: string, body: object): Promise<Body> {
  const [method = '', path = ''] = wanted.split(' ')
  const answer = await fetch(server.api + path, {
    method,
    headers: { 'private-token': TOKEN, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.text()
  assert.ok(answer.ok, `${wanted}: ${text}`)
  return JSON.parse(text) as Body
}

test('every acknowledged write reaches its webhook, in order, though the server is killed after each', async () => {
  let server = await place.serve()
  await call(server, 'PUT /application/settings', {
    allow_local_requests_from_web_hooks_and_services: true,
  })
  const { id } = await call<{ id: number }>(server, 'POST /projects', { name: 'crash' })
  await call(server, `POST /projects/${id}/hooks`, {
    url: receiver.url,
    push_events: false,
    issues_events: true,
  })
  const iids: number[] = []
  for (let round = 0; round < 3; round += 1) {
    for (let i = 0; i < 3; i += 1)
      iids.push((await call<{ iid: number }>(server, `POST /projects/${id}/issues`, { title: 'kept' })).iid)
    await killServer(place, server)
    server = await place.serve()
  }
  const got = (): number[] => [
    ...new Set(receiver.received.map(({ body }) => (body['object_attributes'] as { iid: number }).iid)),
  ]
  await until('all are delivered', () => got().length === iids.length)
  assert.deepEqual(got(), iids)
  const rows = (await place.json(['audit', '--entity-type', 'Project'])) as unknown as {
    event_type: string
  }[]
  const created = rows.filter(({ event_type }) => event_type === 'project_created')
  assert.equal(created.length, 1, 'the audit log has each act once')
})
