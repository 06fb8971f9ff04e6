/* The real server's first start and those after it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, suite, test } from 'node:test'
import { databaseProcesses, openPlace, until, type Place } from '../support/program.ts'

suite('a first start', () => {
  let place: Place
  before(async () => {
    place = await openPlace()
  })
  after(() => place.clear())

  test('shows the token of the administrator, and only the first one does', async () => {
    const first = place.start(['serve'])
    await until('the banner', () => first.stdout().includes('plan_limits'))
    const [token = ''] = /glpat-[\w-]{32}/.exec(first.stdout()) ?? []
    const url = `http://localhost:${place.env['GUILDHALL_PORT']}`
    assert.equal(
      first.stdout(),
      `
  Guildhall runs at      ${url}
  Its interface          ${url}/-/docs
  Its files              ${place.dataDir}
  Administrator's token  ${token}
                         (user root; shown this once: keep it)

  bin/guildhall demo     makes a small world to look at; in another window

  curl ${url}/api/v4/groups
  curl -H "PRIVATE-TOKEN: ${token}" ${url}/api/v4/namespaces
  curl -H "PRIVATE-TOKEN: ${token}" '${url}/api/v4/application/plan_limits?plan_name=default'

`,
    )
    const answer = await fetch(`${url}/api/v4/namespaces`, { headers: { 'private-token': token } })
    assert.deepEqual(
      ((await answer.json()) as { path: string }[]).map(({ path }) => path),
      ['root'],
    )
    assert.ok(!first.stderr().includes(token), 'the token is in no log')
    first.child.kill('SIGINT')
    assert.deepEqual([(await first.ended).code, (await first.ended).signal], [0, null])

    const second = place.start(['serve'])
    await until('the banner', () => second.stdout().includes('plan_limits'))
    assert.ok(!/glpat-/.test(second.stdout()), second.stdout())
    assert.match(
      second.stdout(),
      /shown at the first start; bin\/guildhall token create --user root\n +makes another/,
    )
    second.child.kill('SIGTERM')
    assert.equal((await second.ended).code, 0)
  })
})

test('a start that finds its port taken says so, and keeps the first token for the start that succeeds', async (t) => {
  const place = await openPlace()
  t.after(() => place.clear())
  const other = createServer().listen(Number(place.env['GUILDHALL_PORT']), '127.0.0.1')
  await once(other, 'listening')
  const { code, stdout, stderr } = await place.run(['serve'], { LOG_LEVEL: 'error' })
  const line = `guildhall: port ${place.env['GUILDHALL_PORT']} of 127.0.0.1 is in use; set GUILDHALL_PORT to another, or 0 for any\n`
  assert.deepEqual({ code, stdout, stderr }, { code: 1, stdout: '', stderr: line })
  assert.deepEqual(databaseProcesses(place.dataDir), [])
  other.close()
  const server = await place.serve({ GUILDHALL_PORT: '0' })
  assert.match(String(server.told['root_token']), /^glpat-/)
  const answer = await server.get('/api/v4/groups')
  assert.match(answer.headers.get('link') ?? '', new RegExp(`^<${server.url}/api/v4/groups\\?`))
  assert.notEqual(new URL(server.url).port, '0')
})

test('an administrator who was made before the first start is the one it names', async (t) => {
  const place = await openPlace({ LOG_LEVEL: 'error' })
  t.after(() => place.clear())
  await place.json(['migrate'])
  await place.json([
    'user',
    'create',
    '--username',
    'ada',
    '--name',
    'Ada',
    '--email',
    'ada@x.example',
    '--admin',
  ])
  const started = place.start(['serve'])
  await until('the banner', () => started.stdout().includes('plan_limits'))
  assert.match(started.stdout(), /bin\/guildhall token create --user ada\n/)
  assert.ok(!/glpat-/.test(started.stdout()))
})
