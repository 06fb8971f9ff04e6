/* What the environment says, and what the real program makes of it. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { openPlace, openReadyPlace, type Place, type Running } from '../support/program.ts'

suite('a wrong variable', { concurrency: 2 }, () => {
  let place: Place
  before(async () => {
    place = await openPlace()
  })
  after(() => place.clear())

  const faults: readonly (readonly [string, string, string])[] = [
    ['GUILDHALL_PORT', 'abc', ' is "abc": it takes a number from 0 to 65535'],
    ['GUILDHALL_PORT', '65536', ' is "65536": it takes a number from 0 to 65535'],
    [
      'GUILDHALL_URL',
      'ftp://x',
      ' is "ftp://x": it takes an http or https address such as https://git.example.com',
    ],
    [
      'GUILDHALL_TRUSTED_PROXIES',
      '10.0.0.1, proxy',
      ' is "10.0.0.1, proxy": it takes addresses and ranges such as 10.0.0.1, 10.1.0.0/16',
    ],
    [
      'GUILDHALL_TRUSTED_PROXIES',
      '10.0.0.0/33',
      ' is "10.0.0.0/33": it takes addresses and ranges such as 10.0.0.1, 10.1.0.0/16',
    ],
    ['GUILDHALL_TIER', 'gold', ' is "gold": it takes one of ultimate, premium, free'],
    ['GUILDHALL_OFFERING', 'both', ' is "both": it takes one of self-managed, hosted'],
    ['GUILDHALL_CONTRACT', 'some', ' is "some": it takes one of all, specified'],
    ['LOG_LEVEL', 'loud', ' is "loud": it takes one of trace, debug, info, warn, error, fatal, silent'],
    ['PG_BIN_DIR', 'bin', ' is "bin": it takes an absolute path'],
    [
      'SMTP_URL',
      'http://u:secret@mail',
      ': it takes an address such as smtp://user:password@mail.example.com:587',
    ],
    ['GUILDHALL_MAIL_FROM', 'us', ' is "us": it takes a mail address such as guildhall@example.com'],
    ['GUILDHALL_ROOT_TOKEN', 'short', ': it takes 20 to 255 visible ASCII characters without blanks'],
    [
      'DATABASE_URL',
      'mysql://u:secret@h/d',
      ': it takes an address such as postgres://user:password@host:5432/guildhall',
    ],
  ]
  for (const [name, value, text] of faults)
    test(`${name}=${value} is refused by name, and nothing is opened`, async () => {
      const { code, stdout, stderr } = await place.run(['serve'], { [name]: value })
      assert.deepEqual(
        { code, stdout, stderr },
        { code: 1, stdout: '', stderr: `guildhall: ${name}${text}\n` },
      )
      assert.equal(existsSync(place.dataDir), false)
    })

  test('a host that is not of this machine is refused by name', async () => {
    const { code, stderr } = await place.run(['serve'], { GUILDHALL_HOST: '192.0.2.1', GUILDHALL_PORT: '0' })
    assert.deepEqual(
      [code, stderr],
      [1, 'guildhall: GUILDHALL_HOST is "192.0.2.1", which is no address of this machine\n'],
    )
  })

  test('a database that is away is told as such', async () => {
    const url = 'postgres://u:secret@127.0.0.1:1/guildhall'
    const { code, stderr } = await place.run(['migrate'], { DATABASE_URL: url })
    assert.deepEqual(
      [code, stderr],
      [1, 'guildhall: the database cannot be reached: connect ECONNREFUSED 127.0.0.1:1\n'],
    )
  })
})

async function statuses(server: Running, calls: readonly (readonly [string, string])[]): Promise<number[]> {
  const headers = { 'private-token': String(server.told['root_token']) }
  const answers = calls.map(([method, path]) => fetch(server.api + path, { method, headers }))
  return (await Promise.all(answers)).map(({ status }) => status)
}

test('GUILDHALL_CONTRACT=specified serves no operation whose path the specification does not show', async (t) => {
  const place = await openReadyPlace({ LOG_LEVEL: 'error' })
  t.after(() => place.clear())
  const published = [
    ['GET', '/namespaces/root/exists'],
    ['GET', '/groups/harbour/projects'],
    ['DELETE', '/project_aliases/gate'],
  ] as const
  const specified = [
    ['GET', '/namespaces/root'],
    ['GET', '/groups/harbour'],
    ['GET', '/project_aliases'],
  ] as const
  await place.json(['group', 'create', '--path', 'harbour'])
  const narrow = await place.serve({ GUILDHALL_CONTRACT: 'specified' })
  assert.deepEqual(await statuses(narrow, [...published, ...specified]), [404, 404, 405, 200, 200, 200])
  const { paths } = (await (await narrow.get('/-/openapi.json')).json()) as { paths: Record<string, object> }
  assert.equal(
    Object.keys(paths).some((path) => path.endsWith('/exists')),
    false,
  )
  assert.ok(Object.keys(paths).some((path) => path.endsWith('/namespaces/{id}')))
  await narrow.stop()
  await place.json([
    'user',
    'create',
    '--username',
    'ada',
    '--name',
    'Ada',
    '--email',
    'a@x.example',
    '--admin',
  ])
  const { token } = await place.json(['token', 'create', '--user', 'ada'])
  const wide = await place.serve()
  const told = { ...wide, told: { root_token: token } }
  assert.deepEqual(await statuses(told, [...published, ...specified]), [200, 200, 404, 200, 200, 200])
})

test('GUILDHALL_OFFERING=hosted has no operation of a self-managed instance, and tells of seats', async (t) => {
  const place = await openReadyPlace({ GUILDHALL_OFFERING: 'hosted', LOG_LEVEL: 'error' })
  t.after(() => place.clear())
  const server = await place.serve()
  const own = [
    ['GET', '/application/plan_limits'],
    ['GET', '/project_aliases'],
  ] as const
  assert.deepEqual(await statuses(server, own), [404, 404])
  const headers = { 'private-token': String(server.told['root_token']) }
  const root = (await (await server.get('/api/v4/namespaces/root', headers)).json()) as Record<
    string,
    unknown
  >
  assert.deepEqual([root['max_seats_used'], root['seats_in_use']], [0, 0])
})

test('GUILDHALL_TIER=free refuses what a licence brings', async (t) => {
  const place = await openReadyPlace({ GUILDHALL_TIER: 'free', LOG_LEVEL: 'error' })
  t.after(() => place.clear())
  const server = await place.serve()
  const calls = [
    ['GET', '/project_aliases'],
    ['GET', '/application/plan_limits'],
  ] as const
  assert.deepEqual(await statuses(server, calls), [403, 200])
})

test('GUILDHALL_URL is what every address that it sends begins with', async (t) => {
  const url = 'https://git.example.com/guild'
  const place = await openReadyPlace({ GUILDHALL_URL: `${url}/`, LOG_LEVEL: 'error' })
  t.after(() => place.clear())
  const started = place.start(['serve', '--json'])
  while (!started.stdout().includes('\n')) await new Promise((resolve) => setTimeout(resolve, 10))
  const told = JSON.parse(started.stdout()) as { url: string }
  assert.equal(told.url, url)
  const answer = await fetch(`http://127.0.0.1:${place.env['GUILDHALL_PORT']}/api/v4/groups`, {
    headers: { host: 'evil.example' },
  })
  assert.match(answer.headers.get('link') ?? '', /^<https:\/\/git\.example\.com\/guild\/api\/v4\/groups\?/)
})
