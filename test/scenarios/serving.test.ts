/* The real server: its doors, what it hears of while it runs, and its end. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request, type ClientRequest } from 'node:http'
import { after, before, suite, test } from 'node:test'
import { databaseProcesses, openReadyPlace, until, type Place, type Running } from '../support/program.ts'

const bodyOf = async (answer: Response): Promise<unknown> => JSON.parse(await answer.text())

suite('a server that runs', () => {
  const token = 'a-token-from-the-environment'
  let place: Place
  let server: Running
  before(async () => {
    place = await openReadyPlace({ GUILDHALL_ROOT_TOKEN: token })
    server = await place.serve()
  })
  after(() => place.clear())

  test('takes the token it was configured with, and does not repeat it', async () => {
    assert.equal((await server.get('/api/v4/namespaces', { 'private-token': token })).status, 200)
    assert.deepEqual(server.told, { url: server.url, data_dir: place.dataDir })
    assert.ok(!(server.stdout() + server.stderr()).includes(token))
  })

  test('says that it lives and is ready', async () => {
    for (const path of ['/-/liveness', '/-/readiness']) {
      const answer = await server.get(path)
      assert.deepEqual([answer.status, await bodyOf(answer)], [200, { status: 'ok' }])
    }
  })

  test('gives its metrics to the machine itself, and not through a proxy', async () => {
    const answer = await server.get('/-/metrics')
    assert.equal(answer.status, 200)
    assert.match(await answer.text(), /^guildhall_database_connections\{state="open"\} \d+$/m)
    const proxied = [{ 'x-forwarded-for': '127.0.0.1' }, { forwarded: 'for=127.0.0.1' }] as Record<
      string,
      string
    >[]
    for (const headers of proxied) {
      const hidden = await server.get('/-/metrics', headers)
      assert.deepEqual([hidden.status, await bodyOf(hidden)], [404, { error: '404 Not Found' }])
    }
  })

  test('shows its interface as a document and as a page that may load nothing from elsewhere', async () => {
    const document = (await bodyOf(await server.get('/-/openapi.json'))) as {
      openapi: string
      servers: unknown
    }
    assert.equal(document.openapi, '3.1.0')
    assert.ok(JSON.stringify(document.servers).includes(server.url))
    const page = await server.get('/-/docs?url=https://evil.example/openapi.json')
    assert.equal(page.status, 200)
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8')
    assert.equal(
      page.headers.get('content-security-policy'),
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'",
    )
    assert.ok(!(await page.text()).includes('evil.example'))
    const home = await server.get('/')
    assert.deepEqual([home.status, home.headers.get('location')], [302, '/-/docs'])
  })

  test('is the only one on its data directory', async () => {
    const { code, stdout, stderr } = await place.run(['serve'], { GUILDHALL_PORT: '0' })
    assert.deepEqual(
      [code, stdout, stderr],
      [
        1,
        '',
        `guildhall: The data directory ${place.dataDir} is in use by another Guildhall (process ${server.pid}). Stop that one first, or set GUILDHALL_DATA_DIR to another directory.\n`,
      ],
    )
    assert.equal((await server.get('/-/readiness')).status, 200)
  })

  test('hears at once of a setting that the command line changes', async () => {
    const setting = ['setting', 'set', 'throttle_unauthenticated_api_enabled']
    assert.equal((await server.get('/api/v4/groups')).headers.get('ratelimit-limit'), null)
    await place.json([...setting, 'true'])
    assert.equal((await server.get('/api/v4/groups')).headers.get('ratelimit-limit'), '3600')
    await place.json([...setting, 'false'])
    assert.equal((await server.get('/api/v4/groups')).headers.get('ratelimit-limit'), null)
  })

  /** A request whose body is not all there yet. */
  function beginRequest(): ClientRequest {
    const headers = {
      'private-token': token,
      'content-type': 'application/json',
      'content-length': '33',
      expect: '100-continue',
    }
    const half = request(`${server.api}/groups/harbour/labels`, { method: 'POST', headers })
    half.flushHeaders()
    return half
  }

  test('stops in order: it says so, ends what is under way, and leaves no database behind', async () => {
    await place.json(['group', 'create', '--path', 'harbour'])
    const half = beginRequest()
    const answered = once(half, 'response') as Promise<[{ statusCode: number }]>
    // The server asks for the body: it has the request in hand.
    await once(half, 'continue')
    server.child.kill('SIGTERM')
    await until('readiness fails', async () => (await server.get('/-/readiness')).status === 503)
    const draining = await server.get('/-/readiness')
    assert.deepEqual([draining.status, await bodyOf(draining)], [503, { status: 'draining' }])
    half.end('{"name":"late","color":"#112233"}')
    assert.equal((await answered)[0].statusCode, 201)
    const { code, signal, stderr } = await server.ended
    assert.deepEqual([code, signal], [0, null])
    assert.deepEqual(databaseProcesses(place.dataDir), [])
    const last = stderr
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { status?: number; operation?: string })
    assert.ok(
      last.some(({ status, operation }) => status === 201 && operation === 'createGroupLabel'),
      'the log is whole',
    )
    const again = await place.serve()
    const labels = await again.get('/api/v4/groups/harbour/labels', { 'private-token': token })
    assert.deepEqual(
      ((await labels.json()) as { name: string }[]).map(({ name }) => name),
      ['late'],
    )
    assert.equal((await again.stop()).code, 0)
  })
})

test('an error that nobody caught is logged and ends the program, and its database with it', async (t) => {
  const fault =
    "process.argv[2] === 'serve' && process.once('SIGUSR2', () => Promise.reject(new Error('unforeseen')))"
  const place = await openReadyPlace({
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(fault)}`,
  })
  t.after(() => place.clear())
  const server = await place.serve()
  server.child.kill('SIGUSR2')
  const { code, stderr } = await server.ended
  assert.equal(code, 1, stderr)
  const { level, msg, err } = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>
  assert.deepEqual([level, msg], [60, 'an error that nobody caught ends the process'])
  assert.equal((err as { message: string }).message, 'unforeseen')
  await until('the database has gone too', () => databaseProcesses(place.dataDir).length === 0)
})

test('a second signal ends the program at once', async (t) => {
  const place = await openReadyPlace()
  t.after(() => place.clear())
  const server = await place.serve()
  const half = request(`${server.api}/groups/x/labels`, {
    method: 'POST',
    headers: { expect: '100-continue' },
  })
  half.on('error', () => {})
  half.flushHeaders()
  await once(half, 'continue')
  server.child.kill('SIGTERM')
  await until('it is stopping', () => server.stderr().includes('"stopping"'))
  server.child.kill('SIGINT')
  assert.equal((await server.ended).code, 130)
  await until('the database has gone too', () => databaseProcesses(place.dataDir).length === 0)
})
