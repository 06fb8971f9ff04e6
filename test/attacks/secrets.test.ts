import assert from 'node:assert/strict'
import { suite, test } from 'node:test'
import type { Someone } from '../support/makers.ts'
import { rowsOf } from '../support/rows.ts'
import { contents, makeLabel, sharedWorld } from '../support/stand.ts'
import { listen, request, speak } from '../support/wire.ts'
import type { CallOptions } from '../support/world.ts'

let owner: Someone
let admin: Someone
let watcher: Someone
let group: { id: number }

const world = sharedWorld(async (here) => {
  group = await here.make.group({ visibility: 'public' })
  await here.make.group({ visibility: 'public' })
  owner = await here.make.memberOf('owner', { group })
  admin = await here.make.admin()
  watcher = await here.make.admin()
  await makeLabel(here, group, owner)
})

const WRONG = 'glpat-wrong-but-somebodys'

/** Everything the server says and writes down about a request, as one text. */
async function trace(
  path: string,
  options: CallOptions,
  method: 'GET' | 'POST' | 'PUT' = 'GET',
): Promise<string> {
  const { logs } = world()
  logs.length = 0
  const answer = await world().call(method, path, options)
  const headers = { 'private-token': watcher.token }
  const metrics = await world().app.inject({ url: '/-/metrics', headers })
  assert.equal(metrics.statusCode, 200)
  return [answer.text, JSON.stringify(answer.headers), ...logs, metrics.body].join('\n')
}
const ways = (token: string): CallOptions[] => [
  { headers: { 'private-token': token } },
  { headers: { authorization: `Bearer ${token}` } },
  { headers: { authorization: `Basic ${token}` } },
  { headers: { 'job-token': token } },
  { headers: { cookie: token } },
  { query: { private_token: token } },
  { query: { access_token: token } },
  { query: { job_token: token } },
  { query: { 'private_token[]': token } },
  { query: { private_token: [token, token] } },
]

suite('secrets in what is written down', () => {
  // A leaked log file opened accounts.
  test('GEN-25: a token is in no answer, log line or metric, however it was sent and whatever came of it', async () => {
    const paths = [
      '/groups?per_page=1',
      `/groups/${group.id}`,
      '/groups?page=x',
      '/namespaces',
      '/project_aliases',
      '/nothing',
      '/groups/%ff',
      `/groups/${group.id}/projects`,
    ]
    for (const token of [owner.token, WRONG])
      for (const path of paths)
        for (const way of ways(token)) {
          const written = await trace(path, way)
          assert.ok(!written.includes(token), `${path} ${JSON.stringify(way)}\n${written}`)
        }
  })
  test('GEN-25: a token in a body is in no answer, log line or metric', async () => {
    const path = `/groups/${group.id}/labels`
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    for (const token of [owner.token, WRONG])
      for (const options of [
        { body: { private_token: token } },
        { body: { private_token: [token] } },
        { body: `private_token=${token}&name=x`, headers: form },
        { body: `{"private_token":"${token}"`, headers: { 'content-type': 'application/json' } },
        { body: `private_token=${token}`, headers: { 'content-type': 'text/plain' } },
      ] satisfies CallOptions[]) {
        const written = await trace(path, options, 'POST')
        assert.ok(!written.includes(token), written)
      }
  })

  // The next page's address is kept by proxies and pasted in chats.
  test('GEN-25: links keep the other parameters and drop the token and whom one acts as', async () => {
    const query = {
      private_token: admin.token,
      sudo: owner.username,
      access_token: 'a',
      job_token: 'j',
      search: 'gro',
      all_available: 'true',
      per_page: '1',
    }
    const { status, headers } = await world().call('GET', '/groups', { query })
    assert.equal(status, 200)
    assert.equal(
      String(headers['link']).split(', ')[0],
      '<https://guild.example/api/v4/groups?all_available=true&page=2&per_page=1&search=gro>; rel="next"',
    )
    const spelt = await world().app.inject(
      `/api/v4/groups?per_page=1&all_available=true&private%5Ftoken=${admin.token}`,
    )
    assert.equal(spelt.statusCode, 200)
    assert.ok(!String(spelt.headers['link']).includes(admin.token))
  })
  test('GEN-25: a password in the address is in no log line', async () => {
    const port = await listen(world().app)
    world().logs.length = 0
    await speak(port, request('GET http://ann:s3cret@guild.example/api/v4/groups'))
    await speak(port, request('GET http://ann:s3cret@guild.example/api/v4/nothing'))
    assert.equal(world().logs.length, 2)
    assert.deepEqual(
      world().logs.filter((line) => line.includes('s3cret')),
      [],
    )
  })
  test('GEN-25: log lines say who, what and how it ended, and nothing of the query', async () => {
    world().logs.length = 0
    await world().get('/groups?search=needle', owner)
    assert.equal(world().logs.length, 1)
    const {
      time: _time,
      pid: _pid,
      hostname: _host,
      ms: _ms,
      reqId: _id,
      ...line
    } = JSON.parse(world().logs[0] ?? '') as Record<string, unknown>
    assert.deepEqual(line, {
      level: 30,
      operation: 'listGroups',
      method: 'GET',
      path: '/api/v4/groups',
      status: 200,
      user: owner.id,
      ip: '127.0.0.1',
    })
  })

  // The stored rows must not allow a reader of the database to sign in.
  test('tokens are kept as digests only', async () => {
    const [kept] = await rowsOf(
      world(),
      `select string_agg(t::text, '') as text from personal_access_tokens t`,
    )
    assert.ok(!String(kept?.['text']).includes(owner.token.slice(6)))
    assert.deepEqual(
      await rowsOf(world(), 'select distinct octet_length(digest) as bytes from personal_access_tokens'),
      [{ bytes: 32 }],
    )
    assert.equal(
      (
        await world().call('GET', '/namespaces', {
          query: { private_token: String(kept?.['text']).slice(0, 200) },
        })
      ).status,
      401,
    )
  })
})

suite('log lines', () => {
  // A title with a line end writes a second line, in which the attacker signs in as root.
  test('GEN-27: what callers send stays inside one line', async () => {
    const { logs } = world()
    logs.length = 0
    const forged = 'x\n{"level":30,"msg":"root signed in"}\n\u001B[2Jx\r\u0007'
    const path = `/groups/${encodeURIComponent(forged)}`
    await world().get(path, owner)
    await world().call('POST', `/groups/${group.id}/labels`, {
      as: owner,
      body: { name: forged, color: 'red' },
    })
    await world().call('GET', '/groups', {
      as: owner,
      headers: { 'user-agent': '\u001B[31mred', referer: 'x' },
    })
    await world().call('GET', '/groups', { as: admin, query: { sudo: forged } })
    assert.equal(logs.length, 4)
    for (const line of logs) {
      assert.equal(line.indexOf('\n'), line.length - 1)
      // eslint-disable-next-line no-control-regex -- that there are none is the point
      assert.doesNotMatch(line.slice(0, -1), /[\u0000-\u001F\u007F]/)
      assert.equal((JSON.parse(line) as { msg?: string }).msg, undefined)
    }
  })
})

suite('answers to what went wrong inside', () => {
  // Names of tables, files and versions are the attacker's map.
  test('GEN-28: an unforeseen fault is 500 without SQL, path or stack', async () => {
    await world().make.sql('alter table project_aliases rename to gone')
    const { logs } = world()
    logs.length = 0
    const answer = await world().get('/project_aliases', admin)
    await world().make.sql('alter table gone rename to project_aliases')
    assert.deepEqual([answer.status, answer.text], [500, '{"message":"500 Internal Server Error"}'])
    const cause = logs
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .find(({ level }) => level === 50)
    assert.equal(cause?.['msg'], 'an operation failed')
    assert.equal(cause?.['reqId'], answer.headers['x-request-id'])
    assert.ok(!logs.join('').includes(admin.token))
    assert.equal((await world().get('/project_aliases', admin)).status, 200)
  })
  test('GEN-28: problem details say no more', async () => {
    await world().make.sql('alter table project_aliases rename to gone')
    const answer = await world().call('GET', '/project_aliases', {
      as: admin,
      headers: { accept: 'application/problem+json' },
    })
    await world().make.sql('alter table gone rename to project_aliases')
    assert.deepEqual(answer.body, {
      type: 'about:blank',
      title: 'Internal Server Error',
      status: 500,
      detail: '500 Internal Server Error',
      instance: `urn:uuid:${String(answer.headers['x-request-id'])}`,
    })
  })
  test('two writers in each other’s way: the one that the database ends hears 409, and wrote nothing', async () => {
    await world().make.sql(`
      create function stand_in_the_way() returns trigger language plpgsql as
        $$ begin raise exception 'in the way' using errcode = 'deadlock_detected'; end $$;
      create trigger stand before insert on labels for each row execute function stand_in_the_way()`)
    const before = await contents(world())
    const body = { name: 'late', color: 'red' }
    const answer = await world().call('POST', `/groups/${group.id}/labels`, { as: owner, body })
    const after = await contents(world())
    await world().make.sql('drop trigger stand on labels; drop function stand_in_the_way')
    assert.deepEqual([answer.status, answer.text], [409, '{"message":"409 Conflict: Resource lock"}'])
    assert.equal(after, before)
  })
})
