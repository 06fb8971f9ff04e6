/* Environment variables as the real program reads them. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { after, before, suite, test } from 'node:test'
import { openPlace, openReadyPlace, type Place, type Running } from '../support/program.ts'
import { openWorld, type World } from '../support/world.ts'

suite('a wrong variable', { concurrency: 2 }, () => {
  let place: Place
  before(async () => {
    place = await openPlace()
  })
  after(() => place.clear())

  const faults: readonly (readonly [string, string, string])[] = [
    ['GUILDHALL_PORT', 'abc', ' is "abc": it takes a number from 0 to 65535'],
    [
      'GUILDHALL_URL',
      'https://u:secret@host',
      ': it takes an http or https address such as https://git.example.com',
    ],
    ['GUILDHALL_PAGES_DOMAIN', 'a b', ' is "a b": it takes a host name such as pages.example.com'],
    [
      'DATABASE_URL',
      'postgres://u:secret%zz@h/d',
      ': it takes an address such as postgres://user:password@host:5432/guildhall',
    ],
    [
      'DATABASE_URL',
      'postgres://u:secret@h:port/d',
      ': it takes an address such as postgres://user:password@host:5432/guildhall',
    ],
    ['PG_BIN_DIR', '/nonexistent', ' is "/nonexistent": it takes the path of a folder that is there'],
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
    [
      'BLOB_URL',
      'https://bucket',
      ' is "https://bucket": it takes s3:// and a bucket, such as s3://guildhall/blobs',
    ],
    ['BLOB_URL', 's3://id:secret@bucket', ': it takes s3:// and a bucket, such as s3://guildhall/blobs'],
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

  test('a bucket without credentials, or at no address, is refused by name', async () => {
    const bucket = { BLOB_URL: 's3://bucket' }
    const alone = await place.run(['serve'], bucket)
    assert.equal(alone.stderr, 'guildhall: AWS_ACCESS_KEY_ID: it takes a value where BLOB_URL is set\n')
    const lost = await place.run(['serve'], { ...bucket, AWS_ENDPOINT_URL: 's3.example.com' })
    assert.equal(
      lost.stderr,
      'guildhall: AWS_ENDPOINT_URL_S3: it takes an address such as https://s3.example.com\n',
    )
  })

  test('a host that is not of this machine is refused by name', async () => {
    const { code, stderr } = await place.run(['serve'], { GUILDHALL_HOST: '192.0.2.1', GUILDHALL_PORT: '0' })
    assert.deepEqual(
      [code, stderr],
      [1, 'guildhall: GUILDHALL_HOST is "192.0.2.1", which is no address of this machine\n'],
    )
  })

  // Where nobody can make a folder, a system may take one attempt for a reason to try again.
  test('a data directory that cannot be is refused, and not tried for ever', async () => {
    for (const directory of ['/proc/nope/data', '/dev/null/data']) {
      const { code, stderr } = await place.run(['migrate'], { GUILDHALL_DATA_DIR: directory })
      assert.equal(code, 1)
      assert.match(
        stderr,
        /^guildhall: GUILDHALL_DATA_DIR is "\/.*": the folder cannot be made \(E[A-Z]+\)\n$/,
      )
    }
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

const TOKEN = 'a-token-from-the-environment'

async function statuses(server: Running, calls: readonly (readonly [string, string])[]): Promise<number[]> {
  const headers = { 'private-token': TOKEN }
  const answers = calls.map(([method, path]) => fetch(server.api + path, { method, headers }))
  return (await Promise.all(answers)).map(({ status }) => status)
}

test('GUILDHALL_CONTRACT=specified serves no operation whose path the specification does not show', async (t) => {
  const place = await openReadyPlace({ LOG_LEVEL: 'error', GUILDHALL_ROOT_TOKEN: TOKEN })
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
  const narrow = await place.serve({ GUILDHALL_CONTRACT: 'specified' })
  await place.json(['group', 'create', '--path', 'harbour'])
  assert.deepEqual(await statuses(narrow, [...published, ...specified]), [404, 404, 405, 200, 200, 200])
  const { paths } = (await (await narrow.get('/-/openapi.json')).json()) as { paths: Record<string, object> }
  assert.equal(
    Object.keys(paths).some((path) => path.endsWith('/exists')),
    false,
  )
  assert.ok(Object.keys(paths).some((path) => path.endsWith('/namespaces/{id}')))
  await narrow.stop()
  const wide = await place.serve()
  assert.deepEqual(await statuses(wide, [...published, ...specified]), [200, 200, 404, 200, 200, 200])
})

// A world reads the same variables as the program: nothing more is to be seen of these two in a process.
async function inWorld(env: Record<string, string>, work: (world: World) => Promise<void>): Promise<void> {
  const world = await openWorld({ env })
  try {
    await work(world)
  } finally {
    await world.close()
  }
}

test('GUILDHALL_OFFERING=hosted has no operation of a self-managed instance, and tells of seats', () =>
  inWorld({ GUILDHALL_OFFERING: 'hosted' }, async ({ get, make }) => {
    const admin = await make.admin()
    for (const path of ['/application/plan_limits', '/project_aliases'])
      assert.equal((await get(path, admin)).status, 404)
    const own = (await get(`/namespaces/${admin.username}`, admin)).body as Record<string, unknown>
    assert.deepEqual([own['max_seats_used'], own['seats_in_use']], [0, 0])
  }))

test('GUILDHALL_TIER=free refuses what a licence brings', () =>
  inWorld({ GUILDHALL_TIER: 'free' }, async ({ get, make }) => {
    const admin = await make.admin()
    assert.equal((await get('/project_aliases', admin)).status, 403)
    assert.equal((await get('/application/plan_limits', admin)).status, 200)
  }))

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
