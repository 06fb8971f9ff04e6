/* The demo and the worker of the real program. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import { gitLines, scratch, writeHistory } from '../support/git_fixtures.ts'
import { openReadyPlace, until, type Place, type Running } from '../support/program.ts'

const bodyOf = async <Body>(answer: Response): Promise<Body> => JSON.parse(await answer.text()) as Body

/** Every repository on disk, finished or not, by its name. */
function repositories(place: Place): string[] {
  const top = join(place.dataDir, 'repositories')
  return readdirSync(top).flatMap((folder) => readdirSync(join(top, folder)))
}

suite('the demo', () => {
  let place: Place
  let server: Running
  let source: string
  before(async () => {
    place = await openReadyPlace({ LOG_LEVEL: 'warn' })
    source = join(scratch(), 'source.git')
    writeHistory(source, 60, 5)
  })
  after(() => place.clear())

  test('an attempt whose import fails leaves nothing behind', async () => {
    const { code, stderr } = await place.run(['demo', '--import', place.dataDir.replace(/data$/, '')])
    assert.deepEqual([code, /^guildhall: the import failed: .+\n$/.test(stderr)], [1, true], stderr)
    assert.deepEqual(repositories(place), [])
    server = await place.serve()
    const headers = { 'private-token': String(server.told['root_token']) }
    const namespaces = await bodyOf<{ path: string }[]>(await server.get('/api/v4/namespaces', headers))
    assert.deepEqual(
      namespaces.map(({ path }) => path),
      ['root'],
    )
  })

  test('makes a world that can be looked at with the calls it prints', async () => {
    const { code, stdout } = await place.run(['demo', '--import', source])
    assert.equal(code, 0)
    assert.match(stdout, /^Made 3 groups, 3 projects, 3 people\./)
    const [token = ''] = /glpat-[\w-]+/.exec(stdout) ?? []
    const calls = [...stdout.matchAll(/^ {2}curl .*?(http[^' ]+)'?$/gm)].map(([, url = '']) => url)
    assert.equal(calls.length, 3)
    const shown = await Promise.all(
      calls.map(async (url) =>
        bodyOf<Record<string, unknown>[]>(await fetch(url, { headers: { 'private-token': token } })),
      ),
    )
    assert.deepEqual(
      shown.map(
        (list) =>
          new Set(list.map((item) => item['full_path'] ?? item['path_with_namespace'] ?? item['name'])),
      ),
      [
        new Set(['harbour', 'harbour/finance', 'harbour/platform']),
        new Set(['bug', 'feature', 'good first issue', 'security']),
        new Set(['harbour/finance/ledger', 'harbour/platform/gateway', 'harbour/website']),
      ],
    )
    const commits = await server.get(
      '/api/v4/projects/harbour%2Fplatform%2Fgateway/repository/commits?per_page=100',
    )
    assert.deepEqual(
      (await bodyOf<{ id: string }[]>(commits)).map(({ id }) => id),
      gitLines(source, ['rev-list', 'main']),
    )
  })

  test('is made once', async () => {
    const { code, stdout, stderr } = await place.run(['demo', '--json'])
    assert.deepEqual(
      { code, stdout, stderr },
      { code: 1, stdout: '', stderr: 'guildhall: the path harbour is taken: is the demo there already?\n' },
    )
  })
})

test('a worker without a server waits for one, and keeps the database free for it', async (t) => {
  const place = await openReadyPlace()
  t.after(() => place.clear())
  const worker = place.start(['worker', '--json'])
  await until('it waits', () => worker.stderr().includes('waiting for the server'))
  const server = await place.serve({}, ['--no-worker'])
  await until('the worker runs', () => worker.stdout() === '{"worker":"running"}\n')
  worker.child.kill('SIGTERM')
  assert.equal((await worker.ended).code, 0)
  assert.equal((await server.stop()).code, 0)
})

test('a worker beside a server does its jobs, outlives its restart and stops in order', async (t) => {
  const place = await openReadyPlace()
  t.after(() => place.clear())
  let server = await place.serve({}, ['--no-worker'])
  await place.json(['group', 'create', '--path', 'harbour'])
  const worker = place.start(['worker', '--json'])
  const jobsDone = (): number => worker.stderr().split('"a job is done"').length - 1
  await until('the worker runs', () => worker.stdout() === '{"worker":"running"}\n')
  await place.json(['project', 'create', '--path', 'harbour/one'])
  await until('the job of the first project is done', () => jobsDone() === 1)
  assert.equal((await server.stop()).code, 0)
  server = await place.serve({}, ['--no-worker'])
  await place.json(['project', 'create', '--path', 'harbour/two'])
  await until('the job of the second project is done', () => jobsDone() === 2)
  assert.ok(!server.stderr().includes('a job is done'), 'the server left the jobs alone')
  worker.child.kill('SIGTERM')
  const { code, stderr } = await worker.ended
  assert.equal(code, 0, stderr)
})
