import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Someone } from '../support/makers.ts'
import { contents, makeLabel, sharedWorld } from '../support/stand.ts'
import { bodyOf, listen, request, speak, type Heard } from '../support/wire.ts'

let port: number
let owner: Someone
let group: { id: number }

const world = sharedWorld(async (here) => {
  group = await here.make.group({ visibility: 'public', path: 'open' })
  owner = await here.make.memberOf('owner', { group })
  await here.make.project({ group: await here.make.group({ path: 'second', visibility: 'public' }) })
  await makeLabel(here, group, owner)
  port = await listen(here.app)
})

const headerOf = ({ text }: Heard, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)\r$`, 'im').exec(text.split('\r\n\r\n', 1)[0] + '\r')?.[1]
const hasNot = (heard: Heard, text: string): void =>
  assert.ok(!heard.text.toLowerCase().includes(text.toLowerCase()), heard.text)

suite('addresses that the service writes', () => {
  const links = '<https://guild.example/api/v4/groups?page=2&per_page=1>; rel="next"'

  // A link built from what the caller says of the server leads the next reader, or a cache, elsewhere.
  for (const [what, text] of [
    ['Host', 'GET /api/v4/groups?per_page=1 HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n'],
    ['X-Forwarded-Host', request('GET /api/v4/groups?per_page=1', { 'X-Forwarded-Host': 'evil.test' })],
    ['Forwarded', request('GET /api/v4/groups?per_page=1', { Forwarded: 'host=evil.test;proto=gopher' })],
    ['X-Forwarded-Proto', request('GET /api/v4/groups?per_page=1', { 'X-Forwarded-Proto': 'evil.test' })],
    ['the address itself', request('GET http://evil.test/api/v4/groups?per_page=1')],
    [
      'the address itself, with a password',
      request('GET https://user:evil.test@evil.test:81/api/v4/groups?per_page=1'),
    ],
  ] as const)
    test(`GEN-22: ${what} names no server in links`, async () => {
      const heard = await speak(port, text)
      assert.deepEqual(heard.statuses, [200], heard.text)
      assert.ok(headerOf(heard, 'link')?.startsWith(links), heard.text)
      hasNot(heard, 'evil')
      hasNot(heard, 'gopher')
    })
  test('GEN-22: what an address names beside its path is in no log line', () => {
    assert.ok(world().logs.some((line) => line.includes('"path":"/api/v4/groups"')))
    assert.deepEqual(
      world().logs.filter((line) => line.includes('evil')),
      [],
    )
  })
  test('GEN-22: records carry the configured address', async () => {
    const answer = await world().call('GET', `/groups/${group.id}`, { headers: { host: 'evil.test' } })
    assert.equal((answer.body as { web_url: string }).web_url, 'https://guild.example/groups/open')
  })

  // A line end in an echoed value begins a header of the attacker's own.
  test('GEN-24: CR LF in an undeclared parameter comes back nowhere', async () => {
    const heard = await speak(
      port,
      request('GET /api/v4/groups?per_page=1&x=%0d%0aSet-Cookie:a=b%0d%0a%0d%0a<script>'),
    )
    assert.deepEqual(heard.statuses, [200])
    assert.equal(
      headerOf(heard, 'link')?.split(', ')[0],
      '<https://guild.example/api/v4/groups?page=2&per_page=1>; rel="next"',
    )
    assert.equal(headerOf(heard, 'set-cookie'), undefined)
  })
  test('GEN-24: CR LF in a path comes back nowhere', async () => {
    const heard = await speak(port, request('GET /api/v4/groups/open%0d%0aSet-Cookie:a=b/projects'))
    assert.deepEqual([heard.statuses, bodyOf(heard)], [[404], '{"message":"404 Group Not Found"}'])
    hasNot(heard, 'set-cookie')
  })
  test('GEN-24: a link cannot be ended from inside', async () => {
    const heard = await speak(
      port,
      request('GET /api/v4/groups?per_page=1&a>;rel="next",<https://evil.test=1'),
    )
    assert.match(headerOf(heard, 'link') ?? '', /^<https:/)
    assert.ok(!headerOf(heard, 'link')?.includes('evil'), heard.text)
  })
})

suite('browsers', () => {
  // A page elsewhere calls the interface with the visitor's cookies.
  for (const origin of ['null', 'https://evil.test', 'https://guild.example'])
    test(`GEN-32: origin ${origin} is given no credentials`, async () => {
      for (const verb of ['GET', 'OPTIONS']) {
        const headers = { Origin: origin, Cookie: 'session=1', 'Access-Control-Request-Method': 'POST' }
        const heard = await speak(port, request(`${verb} /api/v4/groups`, headers))
        hasNot(heard, 'access-control-allow-credentials')
        assert.equal(headerOf(heard, 'access-control-allow-origin'), '*')
        assert.equal(headerOf(heard, 'vary'), 'Origin')
      }
    })

  // A form on another site can send these without asking.
  for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=b', 'text/plain'])
    test(`GEN-31: a cookie is no sign-in, for a form of ${type.split(';')[0]} either`, async () => {
      const before = await contents(world())
      const body = type.startsWith('multi')
        ? '--b\r\nContent-Disposition: form-data; name="name"\r\n\r\nx\r\n--b--\r\n'
        : 'name=x&color=red'
      const answer = await world().call('POST', `/groups/${group.id}/labels`, {
        body,
        headers: {
          'content-type': type,
          cookie: `_session=1; private_token=${owner.token}; PRIVATE-TOKEN=${owner.token}`,
          origin: 'https://evil.test',
        },
      })
      assert.equal(answer.status, type === 'text/plain' ? 415 : 401)
      assert.equal(await contents(world()), before)
    })
  test('GEN-34: no answer sets a cookie', async () => {
    for (const path of ['/groups', `/groups/${group.id}`, '/groups/none', '/namespaces', '/nothing'])
      assert.equal((await world().get(path)).headers['set-cookie'], undefined, path)
  })
  test('every answer says what it is, and that it is no frame', async () => {
    const paths = [
      '/api/v4/groups',
      '/api/v4/groups/none',
      '/api/v4/namespaces',
      '/nothing',
      '/api/v4/groups/%ff',
      '/api/v3',
    ]
    for (const path of paths) {
      const { headers } = await world().app.inject(path)
      assert.equal(headers['content-type'], 'application/json', path)
      assert.equal(headers['x-content-type-options'], 'nosniff', path)
      assert.equal(headers['x-frame-options'], 'SAMEORIGIN', path)
      assert.match(String(headers['x-request-id']), /^[\da-f-]{36}$/, path)
    }
  })
})

suite('conditional reads', () => {
  const path = '/groups/open?with_projects=false'
  const read = async (tag?: string): Promise<{ status: number; text: string; etag: string | undefined }> => {
    const { status, text, headers } = await world().call('GET', path, {
      headers: tag === undefined ? {} : { 'if-none-match': tag },
    })
    return { status, text, etag: headers.etag }
  }

  // Lists of tags are walked once for each request.
  test('GEN-36: 304 by any of many tags, weak or strong, and by *', async () => {
    const { etag = '' } = await read()
    assert.match(etag, /^W\/"[\w-]+"$/)
    const many = Array.from({ length: 2_000 }, (_, i) => `"${i}"`).join(', ')
    for (const tag of [
      etag,
      etag.slice(2),
      '*',
      ' * ',
      `${many}, ${etag}`,
      `${etag},${many}`,
      `"a", W/"b", ${etag.slice(2)}`,
    ])
      assert.deepEqual(await read(tag), { status: 304, text: '', etag }, tag.slice(-50))
  })
  test('GEN-36: 200 by none of many tags, nor by a part of the right one', async () => {
    const { etag = '', text } = await read()
    const inner = etag.slice(3, -1)
    for (const tag of [
      '',
      '"x"',
      'W/""',
      inner,
      `"${inner}`,
      `${inner}"`,
      `"${inner.slice(1)}"`,
      `"${inner}x"`,
      '**',
      Array.from({ length: 2_000 }, () => '""').join(','),
    ])
      assert.deepEqual(await read(tag), { status: 200, text, etag }, tag.slice(-50))
  })
  test('GEN-36: 10,000 tags are more than a request may carry', async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `"${i}"`).join(',')
    const heard = await speak(port, request(`GET /api/v4${path}`, { 'If-None-Match': many }))
    assert.deepEqual(heard.statuses, [431])
  })
  test('GEN-36: callers who see different things get different tags', async () => {
    const { etag } = await read()
    const own = await world().get(path, owner)
    assert.notEqual(own.headers['etag'], etag)
    const answer = await world().call('GET', path, { as: owner, headers: { 'if-none-match': String(etag) } })
    assert.equal(answer.status, 200)
  })
})

suite('doors beside the interface', () => {
  // A page that shows any document it is pointed at runs what a stranger wrote, in the visitor's name.
  test('GEN-29: the page of the interface reads this server, whatever its address says', async () => {
    const open = async (query: string): Promise<unknown> => {
      const { statusCode, body, headers } = await world().app.inject(`/-/docs${query}`)
      return [statusCode, body, headers['content-security-policy'], headers['content-type']]
    }
    const plain = await open('')
    for (const name of ['url', 'configUrl', 'urls', 'spec', 'spec-url', 'server'])
      assert.deepEqual(await open(`?${name}=https://evil.test/openapi.json`), plain, name)
    const [status, body, policy] = plain as [number, string, string]
    assert.equal(status, 200)
    assert.match(policy, /^default-src 'none'; script-src 'self'; /)
    assert.doesNotMatch(policy, /unsafe-inline|unsafe-eval|https?:|\*/)
    assert.doesNotMatch(body, /<script>|(src|href)="(https?:)?\/\//)
  })

  // Numbers about the process tell a stranger who else is there.
  test('GEN-30: metrics of a server with an address of its own are for administrators, wherever they ask', async () => {
    const token = async (someone: { token: string }, remoteAddress = '127.0.0.1'): Promise<number> => {
      const headers = { authorization: `Bearer ${someone.token}` }
      return (await world().app.inject({ url: '/-/metrics', remoteAddress, headers })).statusCode
    }
    const admin = await world().make.admin()
    assert.deepEqual([await token(admin), await token(admin, '192.0.2.1')], [200, 200])
    assert.equal(await token(await world().make.user()), 404)
    assert.equal(await token({ token: 'nobody-has-this' }), 401)
    for (const headers of [{}, { 'x-forwarded-for': '127.0.0.1' }, { host: 'localhost' }])
      assert.equal((await world().app.inject({ url: '/-/metrics', headers })).statusCode, 404)
  })
  test('GEN-30: a stranger hears whether the server lives, and no more', async () => {
    for (const path of ['/-/liveness', '/-/readiness']) {
      const answer = await world().app.inject({ url: path, remoteAddress: '192.0.2.1' })
      assert.deepEqual([answer.statusCode, answer.body], [200, '{"status":"ok"}'])
    }
    for (const path of [
      '/metrics',
      '/debug',
      '/debug/pprof',
      '/health',
      '/.env',
      '/.git/config',
      '/server-status',
      '/-/',
      '/-/jobs',
    ])
      assert.equal((await world().app.inject(path)).body, '{"error":"404 Not Found"}', path)
  })
})
