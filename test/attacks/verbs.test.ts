import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Someone } from '../support/makers.ts'
import { contents, sharedWorld } from '../support/stand.ts'
import { bodyOf, listen, request, speak, type Heard } from '../support/wire.ts'

let port: number
let maintainer: Someone
let labels: string

const world = sharedWorld(async ({ app, make }) => {
  const group = await make.group({ visibility: 'public' })
  maintainer = await make.memberOf('maintainer', { group })
  labels = `/api/v4/groups/${group.id}/labels`
  port = await listen(app)
})

const signed = (headers: Record<string, string> = {}): Record<string, string> => ({
  'PRIVATE-TOKEN': maintainer.token,
  'Content-Type': 'application/json',
  ...headers,
})

async function refuses(text: string, status: number, body: string): Promise<void> {
  const heard = await speak(port, text)
  assert.deepEqual([heard.statuses, bodyOf(heard), heard.closed], [[status], body, true])
}

suite('verbs', () => {
  const allowOf = ({ text }: Heard): string | undefined => /^allow: (.*)\r$/im.exec(text)?.[1]

  test('GEN-20: a verb that a path has not is 405, and the answer says which it has', async () => {
    const heard = await speak(port, request(`PATCH ${labels}`, signed()))
    assert.deepEqual(heard.statuses, [405])
    assert.equal(allowOf(heard), 'DELETE, GET, HEAD, POST, PUT')
    assert.equal(bodyOf(heard), '{"error":"405 Not Allowed"}')
    assert.equal(allowOf(await speak(port, request('DELETE /api/v4/groups'))), 'GET, HEAD, POST')
    assert.equal(allowOf(await speak(port, request('OPTIONS /api/v4/groups'))), 'GET, HEAD, POST')
  })

  // TRACE sends back what a proxy added, CONNECT makes a tunnel of the server.
  for (const verb of ['TRACE', 'PROPFIND', 'PURGE', 'LOCK'])
    test(`GEN-20: ${verb} is not served`, async () => {
      const heard = await speak(port, request(`${verb} /api/v4/groups`, { 'PRIVATE-TOKEN': 'secret' }))
      assert.deepEqual(heard.statuses, [404])
      assert.equal(bodyOf(heard), '{"error":"404 Not Found"}')
    })
  test('GEN-20: CONNECT opens no tunnel', async () => {
    const heard = await speak(port, request('CONNECT internal.test:80'))
    assert.deepEqual([heard.text, heard.closed], ['', true])
  })
  test('GEN-20: a verb nobody knows is 400', () =>
    refuses(request('STEAL /api/v4/groups'), 400, '{"error":"400 Bad Request"}'))
  test('GEN-20: a path nobody knows is 404, whatever the verb', async () => {
    for (const verb of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const heard = await speak(port, request(`${verb} /api/v4/nothing`))
      assert.deepEqual([heard.statuses, bodyOf(heard)], [[404], '{"error":"404 Not Found"}'], verb)
    }
  })
  test('GEN-20: the version before is gone', async () => {
    const heard = await speak(port, request('GET /api/v3/projects'))
    assert.deepEqual(heard.statuses, [410])
    assert.equal(bodyOf(heard), '{"error":"API V3 is no longer supported. Use API V4 instead."}')
  })

  // A verb hidden where a filter before the server does not look.
  test('GEN-19: a verb in a header or a parameter is no verb', async () => {
    const before = await contents(world())
    const headers = {
      'X-HTTP-Method-Override': 'DELETE',
      'X-Method-Override': 'DELETE',
      'X-HTTP-Method': 'DELETE',
    }
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', 'Content-Length': '22' }
    const read = await speak(port, request(`GET ${labels}?_method=DELETE&name=bug`, signed(headers)))
    assert.deepEqual(read.statuses, [200])
    const write = await speak(
      port,
      request(`POST ${labels}?_method=DELETE`, signed({ ...headers, ...form }), '_method=DELETE&name=bu'),
    )
    assert.equal(bodyOf(write), '{"error":"color is missing"}')
    assert.equal(await contents(world()), before)
  })
})

suite('headers too large', () => {
  // Each is read into memory before anybody is asked who sends it.
  for (const name of ['PRIVATE-TOKEN', 'Authorization', 'Cookie', 'X-Anything'])
    test(`GEN-26: 64 kB of ${name} are 431`, () =>
      refuses(
        request('GET /api/v4/groups', { [name]: 'x'.repeat(65_536) }),
        431,
        '{"error":"431 Request Header Fields Too Large"}',
      ))
  test('GEN-26: an address of 64 kB is 431', () =>
    refuses(
      request(`GET /api/v4/groups?search=${'x'.repeat(65_536)}`),
      431,
      '{"error":"431 Request Header Fields Too Large"}',
    ))

  // As much as fits, of what a careless pattern would walk again and again.
  for (const [name, value] of [
    ['User-Agent', `${'a'.repeat(12_000)}!`],
    ['Accept', `${'application/'.repeat(1_000)},`],
    ['If-None-Match', `"${'\\"'.repeat(6_000)}`],
    ['If-Unmodified-Since', `${' '.repeat(12_000)}x`],
    ['Authorization', `Bearer${' '.repeat(12_000)}`],
    ['Content-Type', `application/json;${' ;'.repeat(6_000)}`],
    ['Cookie', 'a=b;'.repeat(3_000)],
  ] as const)
    test(`GEN-35: 12 kB of ${name} are read in one pass`, { timeout: 5_000 }, async () => {
      const heard = await speak(port, request('GET /api/v4/groups', { [name]: value }))
      // A token that is nothing but blanks is refused, as any other that will not do.
      assert.deepEqual(heard.statuses, [name === 'Authorization' ? 401 : 200], heard.text)
    })
})
